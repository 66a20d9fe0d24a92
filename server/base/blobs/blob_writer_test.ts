import assert from "node:assert/strict";
import { join } from "node:path";
import { BlobWriter, type BlobWriterOptions, WriterLost } from "./blob_writer.ts";
import type { PostedBatch } from "./blob_writer_program.ts";
import { type BlobWriterEvents, blobWriterIn } from "./start_blob_writer.ts";

/** Workers that answer when the test says so, and timers by hand. */
function heldWriter(options: Partial<BlobWriterOptions> = {}) {
  const workers: { events: BlobWriterEvents; batches: PostedBatch[]; isTerminated: boolean }[] = [];
  const timers: { delayMs: number; callback: () => void }[] = [];
  const losses: unknown[] = [];
  const writer = new BlobWriter({
    start(events) {
      const made = { events, batches: [] as PostedBatch[], isTerminated: false };
      workers.push(made);
      return {
        post: (batch) => void made.batches.push(batch),
        terminate: () => void (made.isTerminated = true),
      };
    },
    onLoss: (failure) => losses.push(failure),
    after(delayMs, callback) {
      const timer = { delayMs, callback };
      timers.push(timer);
      return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
    },
    ...options,
  });
  const write = (name: string, folder = "/f") =>
    writer.write(folder, {
      path: `${folder}/${name}`,
      temporaryPath: `${folder}/${name}.tmp`,
      bytes: new Uint8Array([1]),
    });
  const batchNames = (at = 0) =>
    workers[at]!.batches.map(({ files }) => files.map(({ path }) => path.split("/").at(-1)));
  return { writer, workers, timers, losses, write, batchNames };
}

Deno.test("BlobWriter writes what waits together in one batch, of one folder, at most 32", async () => {
  const { writer, workers, timers, write, batchNames } = heldWriter();
  const first = write("a");
  const others = [write("b"), write("x", "/g"), write("c")];
  const { events } = workers[0]!;
  assert.deepEqual(batchNames(), []);
  events.message("ready");
  assert.deepEqual(batchNames(), [["a", "b", "c"]]);
  const many = Array.from({ length: 40 }, (_, i) => write(`m${i}`, "/g"));
  events.message([null, { name: "NotFound", message: "gone" }, null]);
  await first;
  await assert.rejects(others[0]!, Deno.errors.NotFound);
  await others[2];
  assert.deepEqual([batchNames()[1]![0], batchNames()[1]!.length], ["x", 32]);
  events.message(Array.from({ length: 32 }, () => null));
  assert.equal(batchNames()[2]!.length, 9);
  events.message(Array.from({ length: 9 }, () => null));
  await Promise.all([others[1], ...many]);
  assert.deepEqual(timers.map(({ delayMs }) => delayMs), [60_000]);
  timers[0]!.callback();
  assert.ok(workers[0]!.isTerminated);
  writer.close();
});

Deno.test("BlobWriter keeps nobody waiting for a worker that is gone, and starts another", async () => {
  const { writer, workers, timers, losses, write } = heldWriter();
  const cutOff = [write("a"), write("b", "/g")];
  workers[0]!.events.message("ready");
  workers[0]!.events.died(new Error("gone"));
  for (const one of cutOff) await assert.rejects(one, WriterLost);
  const slow = write("c");
  workers[1]!.events.message("ready");
  assert.deepEqual(timers.map(({ delayMs }) => delayMs), [30_000]);
  timers[0]!.callback();
  await assert.rejects(slow, WriterLost);
  workers[1]!.events.message([null]); // too late
  assert.deepEqual([workers.map(({ isTerminated }) => isTerminated), losses.length], [
    [true, true],
    2,
  ]);
  const closed = write("d");
  writer.close();
  await assert.rejects(closed, WriterLost);
  await assert.rejects(write("e"), WriterLost);
  assert.equal(workers.length, 3);
});

Deno.test("BlobWriter tries three starts that fail in a row", async () => {
  const { writer, write, losses } = heldWriter({
    start: () => {
      throw new Error("no workers here");
    },
  });
  for (let i = 0; i < 3; i++) {
    assert.ok(writer.isUsable);
    await assert.rejects(write("a"), WriterLost);
  }
  assert.deepEqual([writer.isUsable, losses.length], [false, 3]);
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
