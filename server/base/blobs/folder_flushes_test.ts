import assert from "node:assert/strict";
import { FolderFlushes } from "./folder_flushes.ts";

/** Flushes that a test ends, in the order of their beginning. */
function controlled() {
  const begun: { path: string; end: PromiseWithResolvers<void> }[] = [];
  const flushes = new FolderFlushes((path) => {
    const end = Promise.withResolvers<void>();
    begun.push({ path, end });
    return end.promise;
  });
  return { begun, flushes };
}

Deno.test("FolderFlushes: who comes while a flush is under way shares the next one, never that one", async () => {
  const { begun, flushes } = controlled();
  const first = flushes.flush("a");
  const later = [flushes.flush("a"), flushes.flush("a")];
  const other = flushes.flush("b");
  assert.deepEqual(begun.map(({ path }) => path), ["a", "b"]);
  begun[0]!.end.resolve();
  await first;
  let isOver = false;
  const both = Promise.all(later).then(() => isOver = true);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(isOver, false);
  assert.deepEqual(begun.map(({ path }) => path), ["a", "b", "a"]);
  const third = flushes.flush("a");
  begun[2]!.end.resolve();
  await both;
  await new Promise((resolve) => setTimeout(resolve));
  begun[3]!.end.resolve();
  begun[1]!.end.resolve();
  await Promise.all([third, other]);
  const again = flushes.flush("a");
  assert.equal(begun.length, 5);
  begun[4]!.end.resolve();
  await again;
});

Deno.test("FolderFlushes: a failure is told to all who share it, and to nobody else", async () => {
  const { begun, flushes } = controlled();
  const first = flushes.flush("a");
  const next = [flushes.flush("a"), flushes.flush("a")];
  begun[0]!.end.reject(new Error("first"));
  await assert.rejects(first, /first/);
  await new Promise((resolve) => setTimeout(resolve));
  begun[1]!.end.reject(new Error("second"));
  const told = await Promise.allSettled(next);
  assert.deepEqual(told.map((one) => one.status), ["rejected", "rejected"]);
  const again = flushes.flush("a");
  begun[2]!.end.resolve();
  await again;
});
