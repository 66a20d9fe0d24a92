import assert from "node:assert/strict";
import { WaitingLine } from "./waiting_line.ts";

Deno.test("WaitingLine gives to who waits longest of those who may have it, and to nobody who gave up", async () => {
  const line = new WaitingLine<string, number>();
  const abort = new AbortController();
  const waits = [1, 2, 3, 2].map((asked) =>
    line.wait(asked === 1 ? abort.signal : undefined, asked)
  );
  assert.equal(line.give("a", (asked) => asked === 2), true);
  abort.abort();
  assert.equal(line.give("b"), true);
  assert.equal(line.give("c", (asked) => asked === 3), false);
  assert.equal(line.length, 1);
  assert.equal(line.give("d"), true);
  assert.deepEqual(await Promise.all(waits), [null, "a", "b", "d"]);
  assert.equal(line.give("e"), false);
});

Deno.test("WaitingLine leaves who was given something with it, though it gives up at once", async () => {
  const line = new WaitingLine<string>();
  const abort = new AbortController();
  const wait = line.wait(abort.signal);
  line.give("a");
  abort.abort();
  assert.equal(await wait, "a");
});
