import assert from "node:assert/strict";
import { blobTest, patterned } from "../../../tests/support/blob_rig.ts";

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
