import assert from "node:assert/strict";
import { join } from "node:path";
import { heldWorkers, settle } from "../../../tests/support/held_workers.ts";
import { BlobWriter, blobWriterIn, WriterLost } from "./blob_writer.ts";
import type { FilesOfFolder, WriteFailure } from "./write_batch.ts";

function heldWriter() {
  const held = heldWorkers<FilesOfFolder, (WriteFailure | null)[]>();
  const writer = new BlobWriter(held.services);
  const write = (name: string, folder = "/f") =>
    writer.write(folder, {
      path: `${folder}/${name}`,
      temporaryPath: `${folder}/${name}.tmp`,
      bytes: new Uint8Array([1]),
    });
  const batches = (worker?: number) =>
    held.jobs(worker).map(({ job }) => job.files.map(({ path }) => path.split("/").at(-1)));
  const end = async (...failures: (WriteFailure | null)[]) => {
    held.end(failures);
    await settle();
  };
  return { ...held, writer, write, batches, end };
}

Deno.test("BlobWriter writes what waits together in one batch, of one folder, at most 32", async () => {
  const { writer, workers, write, ready, end, batches } = heldWriter();
  const first = write("first");
  ready();
  const ends = ["a", "b", "c"].map((name) => write(name));
  const other = write("x", "/g");
  assert.deepEqual(batches(), [["first"]]);
  await end(null);
  await first;
  assert.deepEqual(batches(), [["first"], ["a", "b", "c"]]);
  assert.equal(workers[0]!.transferred.length, 4);
  const many = Array.from({ length: 40 }, (_, i) => write(`m${i}`, "/g"));
  const refused = assert.rejects(ends[1]!, Deno.errors.NotFound);
  await end(null, { name: "NotFound", message: "gone" }, null);
  await Promise.all([refused, ends[0], ends[2]]);
  assert.deepEqual([batches()[2]![0], batches()[2]!.length], ["x", 32]);
  await end(...Array.from({ length: 32 }, () => null));
  assert.equal(batches()[3]!.length, 9);
  await end(...Array.from({ length: 9 }, () => null));
  await Promise.all([other, ...many]);
  writer.close();
});

Deno.test("BlobWriter keeps nobody waiting for a worker that is gone or late, and starts another", async () => {
  const { writer, workers, losses, write, ready, die, pass } = heldWriter();
  const lost = (...files: Promise<void>[]) =>
    Promise.all(files.map((file) => assert.rejects(file, WriterLost)));
  const cutOff = lost(write("a"), write("b", "/g"));
  ready();
  die(new Error("gone"));
  await cutOff;
  const slow = lost(write("c"), write("d", "/g"));
  ready(1);
  pass(30_000);
  assert.equal(losses.length, 1);
  pass(250);
  await slow;
  assert.deepEqual([workers.map(({ isTerminated }) => isTerminated), losses.length], [
    [true, true],
    2,
  ]);
  const unstarted = lost(write("e"));
  die(new Error("no modules"));
  await unstarted;
  assert.equal(writer.isUsable, false);
  pass(10_000);
  assert.equal(writer.isUsable, true);
  const closed = lost(write("f"), write("g"));
  writer.close();
  await closed;
  await lost(write("h"));
  assert.deepEqual([workers.length, writer.isUsable], [4, false]);
});

Deno.test("BlobWriter writes in a real worker, which reaches its folder alone", async () => {
  const root = await Deno.makeTempDir();
  const elsewhere = await Deno.makeTempDir();
  const writer = new BlobWriter({
    start: blobWriterIn(root),
    onLoss: (failure) => assert.fail(String(failure)),
  });
  try {
    const write = (folder: string, name: string, bytes: Uint8Array<ArrayBuffer>) => {
      const path = join(folder, name);
      return writer.write(folder, { path, temporaryPath: `${path}.tmp`, bytes });
    };
    await Deno.writeTextFile(join(root, "taken.tmp"), "mine");
    const ends = await Promise.allSettled([
      write(root, "a", new Uint8Array(100_000).fill(7)),
      write(root, "taken", new Uint8Array([1])),
      write(root, "empty", new Uint8Array()),
      write(join(root, "missing"), "a", new Uint8Array([1])),
      write(elsewhere, "a", new Uint8Array([1])),
    ]);
    assert.deepEqual(ends.map((end) => end.status === "rejected" ? end.reason.name : null), [
      null,
      "AlreadyExists",
      null,
      "NotFound",
      "NotCapable",
    ]);
    assert.deepEqual(await Deno.readFile(join(root, "a")), new Uint8Array(100_000).fill(7));
    assert.equal((await Deno.stat(join(root, "a"))).mode! & 0o777, 0o600);
    assert.equal((await Deno.stat(join(root, "empty"))).size, 0);
    const names = (await Array.fromAsync(Deno.readDir(root))).map(({ name }) => name).sort();
    assert.deepEqual(names, ["a", "empty", "taken.tmp"]);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(elsewhere)), []);
  } finally {
    writer.close();
    await Deno.remove(root, { recursive: true });
    await Deno.remove(elsewhere, { recursive: true });
  }
});
