import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { hashInTurns } from "./hash_in_turns.ts";
import { sha256Of } from "./sha256_of.ts";
import { TurnClock } from "./turn_clock.ts";

const patterned = (sizeBytes: number) => Uint8Array.from({ length: sizeBytes }, (_, i) => i * 31);

Deno.test("hashInTurns() gives what hashing in one go gives, of any size", async () => {
  for (const sizeBytes of [0, 1, 65_535, 65_536, 65_537, 3_000_000]) {
    const bytes = patterned(sizeBytes);
    const expected = createHash("sha256").update(bytes).digest("hex");
    assert.equal((await hashInTurns(createHash("sha256"), bytes)).digest("hex"), expected);
    assert.equal(new Uint8Array(await sha256Of(bytes)).toHex(), expected);
    const mac = createHmac("sha256", "secret").update(bytes).digest("hex");
    assert.equal((await hashInTurns(createHmac("sha256", "secret"), bytes)).digest("hex"), mac);
  }
});

Deno.test("hashInTurns() lets others run after each turn", async () => {
  let nowMs = 0;
  let others = 0;
  let isDone = false;
  const count = () => {
    others++;
    if (!isDone) setTimeout(count);
  };
  // Half a millisecond a look: two pieces a turn.
  const clock = new TurnClock(() => (nowMs += 0.5));
  const hashing = hashInTurns(createHash("sha256"), patterned(32 * 65_536), clock);
  setTimeout(count);
  await hashing;
  isDone = true;
  assert.ok(others >= 10, `${others} turns of others`);
  await new Promise((resolve) => setTimeout(resolve, 5));
});
