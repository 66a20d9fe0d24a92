import assert from "node:assert/strict";
import { isMailId, makeMailId, makeUlid } from "./mail_id.ts";

const zeros = (sizeBytes: number) => new Uint8Array(sizeBytes);
const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

Deno.test("makeUlid writes the time in its first ten characters", () => {
  assert.equal(makeUlid(0, zeros), "0".repeat(26));
  // The example of the ULID specification.
  assert.equal(makeUlid(1_469_918_176_385, zeros).slice(0, 10), "01ARYZ6S41");
  assert.equal(makeUlid(2 ** 48 - 1, zeros).slice(0, 10), "7ZZZZZZZZZ");
});

Deno.test("makeMailId gives ids that sort by time and differ within a millisecond", () => {
  const ids = Array.from(
    { length: 1000 },
    (_, i) => makeMailId("ibx", 1_780_000_000_000 + i, random),
  );
  assert.deepEqual([...ids].sort(), ids);
  const same = new Set(Array.from({ length: 1000 }, () => makeMailId("ibx", 1, random)));
  assert.equal(same.size, 1000);
});

Deno.test("isMailId takes ids of its prefix in their one spelling", () => {
  const id = makeMailId("key", Date.now(), random);
  assert.ok(isMailId("key", id));
  const others = [
    id.toLowerCase(),
    `${id}0`,
    id.slice(0, -1),
    id.replace("key", "org"),
    "",
    "key_",
  ];
  for (const other of others) assert.equal(isMailId("key", other), false, other);
});
