import assert from "node:assert/strict";
import { join } from "node:path";
import { writeBatch } from "./write_batch.ts";

/** Notes each step that decides whether a file outlives a power cut; `fail` may end one. */
async function stepsOf(
  work: () => Promise<unknown>,
  fail: (step: string) => boolean = () => false,
): Promise<string[]> {
  const steps: string[] = [];
  const { openSync, renameSync, open } = Deno;
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
  Deno.openSync = (path, options) => watched(openSync(path, options), path);
  Deno.open = async (path, options) => watched(await open(path, options), path);
  Deno.renameSync = (from, to) => {
    renameSync(from, to);
    note("rename to", to);
  };
  try {
    await work();
  } finally {
    Object.assign(Deno, { openSync, renameSync, open });
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
    bytes: new TextEncoder().encode(name),
  }));

Deno.test("writeBatch() flushes each file before its name, and the names last", () =>
  withFolder(async (folder) => {
    const steps = await stepsOf(async () => {
      assert.deepEqual(await writeBatch(folder, filesIn(folder)), [null, null]);
    });
    assert.deepEqual(steps.slice(0, 2).sort(), ["flush a.tmp", "flush b.tmp"]);
    assert.deepEqual(steps.slice(2), ["rename to a", "rename to b", "flush folder"]);
    assert.equal(await Deno.readTextFile(join(folder, "b")), "b");
  }));

Deno.test("writeBatch() names no file whose flush failed, and says so of it alone", () =>
  withFolder(async (folder) => {
    let ends: unknown[] = [];
    const steps = await stepsOf(
      async () => void (ends = await writeBatch(folder, filesIn(folder))),
      (step) => step === "flush a.tmp",
    );
    assert.deepEqual(ends, [{ name: "Error", message: "flush a.tmp" }, null]);
    assert.deepEqual(steps, ["flush b.tmp", "rename to b", "flush folder"]);
  }));

Deno.test("writeBatch() says of every file that it is not kept where the names could not be flushed", () =>
  withFolder(async (folder) => {
    let ends: unknown[] = [];
    await stepsOf(
      async () => void (ends = await writeBatch(folder, filesIn(folder))),
      (step) => step === "flush folder",
    );
    assert.deepEqual(
      ends,
      ["flush folder", "flush folder"].map((message) => ({
        name: "Error",
        message,
      })),
    );
  }));
