import assert from "node:assert/strict";
import { join } from "node:path";
import { blobTest, filesIn, patterned } from "../../../tests/support/blob_rig.ts";
import { makeUlid } from "../storage/rows/ulid.ts";
import { BlobFiles } from "./blob_files.ts";
import { StoreMark } from "./store_mark.ts";
import type { FileToWrite } from "./write_files.ts";

/** Notes each step of a write that decides whether it outlives a power cut. */
async function stepsOf(work: () => Promise<unknown>): Promise<string[]> {
  const steps: string[] = [];
  const { open, rename, mkdir } = Deno;
  const note = (step: string, path: string | URL) =>
    void steps.push(
      `${step} ${String(path).replace(/^.*?\/mail(\/|$)/, "").replace(/[^/]*\.01/, "01")}`,
    );
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      note("flush", path);
    };
    return file;
  };
  Deno.rename = async (from, to) => {
    await rename(from, to);
    note("rename to", to);
  };
  Deno.mkdir = async (path, options) => {
    await mkdir(path, options);
    note("make", path);
  };
  try {
    await work();
  } finally {
    Object.assign(Deno, { open, rename, mkdir });
  }
  return steps;
}

blobTest(
  "BlobFiles flushes file, new folders and name, in the order that outlives a power cut",
  async (rig) => {
    const refs: string[] = [];
    const write = async () => {
      const { name } = await rig.blobs.write(["org"], [patterned(5), patterned(6)]);
      refs.push(name.at(-1)!);
    };
    const first = await stepsOf(write);
    const [a] = refs as [string];
    const [outer, inner] = [a.slice(0, 5), `${a.slice(0, 5)}/${a.slice(5, 6)}`];
    const data = rig.dataDir;
    assert.deepEqual(first.map((step) => step.replace(/store\.\w+/, "store.ID")), [
      "make ",
      "flush store.ID.tmp",
      "rename to store",
      `flush ${data}`,
      `make ${outer}`,
      "flush ",
      `make ${inner}`,
      `flush ${outer}`,
      `flush ${inner}/${a}.tmp`,
      `rename to ${inner}/${a}`,
      `flush ${inner}`,
    ]);
    const second = await stepsOf(write);
    const b = refs[1]!;
    assert.deepEqual(second, [
      `flush ${inner}/${b}.tmp`,
      `rename to ${inner}/${b}`,
      `flush ${inner}`,
    ]);
  },
  [{ form: "files", exclusive: true }],
);

blobTest(
  "BlobFiles leaves small blobs to the writer where many are written, and writes what it does not",
  async ({ storage: { store }, dataDir }) => {
    const root = join(dataDir, "mail");
    const given: FileToWrite[] = [];
    const writer = {
      isReady: false,
      async write(file: FileToWrite) {
        given.push(file);
        const [bytes] = structuredClone(file.sections, {
          transfer: file.sections.map(({ buffer }) => buffer as ArrayBuffer),
        });
        if (given.length % 3 === 0) return false;
        // Half of a file, and one that has its name and is not whole.
        const isDone = given.length % 3 === 1;
        await Deno.writeFile(file.path, isDone ? bytes! : bytes!.subarray(1));
        await Deno.writeTextFile(file.temporaryPath, "torn");
        if (isDone) await Deno.remove(file.temporaryPath);
        return isDone;
      },
    };
    const files = new BlobFiles(root, new StoreMark(store, root), writer);
    const put = async (...sections: Uint8Array[]) => {
      const name = ["org", makeUlid(store.now(), store.random)];
      await files.put(name, sections);
      return name;
    };
    const [large, edge] = [patterned(256 * 1024 + 1), patterned(256 * 1024)];
    await put(patterned(1));
    await Promise.all([put(edge), put(edge)]);
    assert.equal(given.length, 0, "few");
    await Promise.all([large, large, large, large].map((one) => put(one)));
    assert.equal(given.length, 0, "large");
    const sections = Array.from({ length: 8 }, (_, i) => [patterned(100 + i), patterned(i, 2)]);
    const names = await Promise.all(sections.map((some) => put(...some)));
    assert.equal(given.length, names.length);
    for (const [i, name] of names.entries()) {
      assert.deepEqual(
        await files.get(name, 0, 1_000),
        new Uint8Array(sections[i]!.flatMap((one) => [...one])),
      );
    }
    // While its worker is there it gets single ones too, and no large ones.
    writer.isReady = true;
    await put(patterned(1));
    await put(large);
    assert.equal(given.length, names.length + 1);
    assert.equal((await filesIn(root)).filter((path) => path.endsWith(".tmp")).length, 0);
  },
  [{ form: "files", exclusive: true }],
);
