import assert from "node:assert/strict";
import { LentBytes } from "./lent_bytes.ts";

const MIB = 2 ** 20;

Deno.test("LentBytes gives what was lent so many times, and holds 16 MiB", () => {
  const lent = new LentBytes();
  const bytes = new Uint8Array(1);
  lent.lend("twice", bytes, 2);
  assert.deepEqual([lent.take("twice"), lent.take("twice"), lent.take("twice")], [
    bytes,
    bytes,
    null,
  ]);
  lent.lend("never", bytes, 1);
  lent.lend("never", bytes, 0);
  lent.lend("large", new Uint8Array(16 * MIB + 1), 1);
  for (let i = 0; i < 17; i++) lent.lend(`small ${i}`, new Uint8Array(MIB), 1);
  const isThere = ["never", "large", "small 0", "small 1", "small 16"].map((name) =>
    lent.take(name) !== null
  );
  assert.deepEqual(isThere, [false, false, false, true, true]);
  // What was taken leaves its room to others.
  lent.lend("again", new Uint8Array(MIB), 1);
  assert.ok(lent.take("small 2") !== null);
});
