import assert from "node:assert/strict";
import { join } from "node:path";
import { heldWorkers, settle } from "../../../tests/support/held_workers.ts";
import { BlobWriter, blobWriterIn } from "./blob_writer.ts";
import type { FileToWrite } from "./write_files.ts";

function heldWriter() {
  const held = heldWorkers<FileToWrite[], boolean[]>();
  const writer = new BlobWriter(held.services);
  const write = (name: string, folder = "/f") =>
    writer.write({
      path: `${folder}/${name}`,
      temporaryPath: `${folder}/${name}.tmp`,
      sections: [new Uint8Array([1])],
    });
  const batches = (worker?: number) =>
    held.jobs(worker).map(({ job }) => job.map(({ path }) => path.split("/").at(-1)));
  const end = async (...written: boolean[]) => {
    held.end(written);
    await settle();
  };
  return { ...held, writer, write, batches, end };
}

Deno.test("BlobWriter writes what waits together in one batch, at most 32", async () => {
  const { writer, workers, write, ready, end, batches, say, jobs } = heldWriter();
  const first = write("first");
  ready();
  const ends = ["a", "b", "c"].map((name) => write(name));
  const other = write("x", "/g");
  assert.deepEqual(batches(), [["first"]]);
  await end(true);
  assert.equal(await first, true);
  assert.deepEqual(batches(), [["first"], ["a", "b", "c", "x"]]);
  assert.equal(workers[0]!.transferred.length, 5);
  const many = Array.from({ length: 40 }, (_, i) => write(`m${i}`, "/g"));
  await end(true, false, true, true);
  assert.deepEqual(await Promise.all([...ends, other]), [true, false, true, true]);
  assert.deepEqual([batches()[2]![0], batches()[2]!.length], ["m0", 32]);
  await end(...Array.from({ length: 32 }, () => true));
  assert.equal(batches()[3]!.length, 8);
  await end(...Array.from({ length: 8 }, () => true));
  assert.equal((await Promise.all(many)).every(Boolean), true);
  const failed = write("failed");
  const behind = write("behind");
  say({ id: jobs().at(-1)!.id, failed: "Error" });
  await settle();
  assert.equal(await failed, false);
  await end(true);
  assert.equal(await behind, true);
  writer.close();
});

Deno.test("BlobWriter keeps nobody waiting for a worker that is gone or late, and starts another", async () => {
  const { writer, workers, losses, write, ready, die, pass } = heldWriter();
  const lost = async (...files: Promise<boolean>[]) =>
    assert.deepEqual(await Promise.all(files), files.map(() => false));
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
  await lost(write("while it rests"));
  assert.equal(workers.length, 3);
  pass(10_000);
  const closed = lost(write("f"), write("g"));
  writer.close();
  await closed;
  await lost(write("h"));
  assert.equal(workers.length, 4);
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
      return writer.write({ path, temporaryPath: `${path}.tmp`, sections: [bytes] });
    };
    await Deno.writeTextFile(join(root, "taken.tmp"), "mine");
    const written = await Promise.all([
      write(root, "a", new Uint8Array(100_000).fill(7)),
      write(root, "taken", new Uint8Array([1])),
      write(root, "empty", new Uint8Array()),
      write(join(root, "missing"), "a", new Uint8Array([1])),
      write(elsewhere, "a", new Uint8Array([1])),
    ]);
    assert.deepEqual(written, [true, false, true, false, false]);
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
