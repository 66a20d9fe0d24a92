import assert from "node:assert/strict";
import { join } from "node:path";
import { writeFiles } from "./write_files.ts";

/** Notes each step that decides whether a file outlives a power cut; `fail` may end one. */
async function stepsOf(
  work: () => Promise<unknown>,
  fail: (step: string) => boolean = () => false,
): Promise<string[]> {
  const steps: string[] = [];
  const { open, rename } = Deno;
  const note = (step: string, path: string | URL) => {
    const noted = `${step} ${String(path).split("/").at(-1)}`;
    if (fail(noted)) throw new Error(noted);
    steps.push(noted);
  };
  const watched = (file: Deno.FsFile, path: string | URL): Deno.FsFile => {
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      note("flush", path);
    };
    return file;
  };
  Deno.open = async (path, options) => watched(await open(path, options), path);
  Deno.rename = async (from, to) => {
    await rename(from, to);
    note("rename to", to);
  };
  try {
    await work();
  } finally {
    Object.assign(Deno, { open, rename });
  }
  return steps;
}

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const parent = await Deno.makeTempDir();
  const folder = join(parent, "folder");
  await Deno.mkdir(folder);
  try {
    await test(folder);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

const filesIn = (folder: string) =>
  ["a", "b"].map((name) => ({
    path: join(folder, name),
    temporaryPath: join(folder, `${name}.tmp`),
    sections: [new TextEncoder().encode(name)],
  }));

Deno.test("writeFiles() flushes each file before its name, and the names last", () =>
  withFolder(async (folder) => {
    const steps = await stepsOf(async () => {
      assert.deepEqual(await writeFiles(filesIn(folder)), [null, null]);
    });
    for (const name of ["a", "b"]) {
      const [flushed, named] = [`flush ${name}.tmp`, `rename to ${name}`].map((step) =>
        steps.indexOf(step)
      );
      assert.ok(0 <= flushed! && flushed! < named!, steps.join());
    }
    assert.deepEqual([steps.length, steps.at(-1)], [5, "flush folder"]);
    assert.equal(await Deno.readTextFile(join(folder, "b")), "b");
  }));

Deno.test("writeFiles() names no file whose flush failed, and says so of it alone", () =>
  withFolder(async (folder) => {
    let ends: unknown[] = [];
    const steps = await stepsOf(
      async () => void (ends = await writeFiles(filesIn(folder))),
      (step) => step === "flush a.tmp",
    );
    assert.deepEqual(ends.map((end) => end && (end as Error).message), ["flush a.tmp", null]);
    assert.deepEqual(steps, ["flush b.tmp", "rename to b", "flush folder"]);
  }));

Deno.test("writeFiles() keeps no file where the names could not be flushed", () =>
  withFolder(async (folder) => {
    await assert.rejects(
      stepsOf(() => writeFiles(filesIn(folder)), (step) => step === "flush folder"),
      /flush folder/,
    );
  }));

Deno.test("writeFiles() flushes the folder of each file, and no file of one fails with another's", () =>
  withFolder(async (folder) => {
    const second = join(folder, "second");
    await Deno.mkdir(second);
    const files = [folder, join(folder, "missing"), second].map((one) => filesIn(one)[0]!);
    let ends: unknown[] = [];
    const steps = await stepsOf(async () => void (ends = await writeFiles(files)));
    assert.deepEqual(ends.map((end) => end instanceof Deno.errors.NotFound), [false, true, false]);
    assert.deepEqual(steps.slice(-2), ["flush folder", "flush second"]);
  }));

Deno.test("writeFiles() writes into no file that another has begun", () =>
  withFolder(async (folder) => {
    const [a] = filesIn(folder);
    await Deno.writeTextFile(a!.temporaryPath, "another's");
    const [failure] = await writeFiles([a!]);
    assert.ok(failure instanceof Deno.errors.AlreadyExists);
    assert.equal(await Deno.readTextFile(a!.temporaryPath), "another's");
  }));
