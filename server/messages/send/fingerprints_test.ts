import assert from "node:assert/strict";
import { Fingerprints } from "./fingerprints.ts";

const KEPT_MS = 361_000;
const NOW_SECONDS = 1_780_000_000;

function make(capacity?: number): Fingerprints {
  const seed = crypto.getRandomValues(new Uint8Array(8));
  return new Fingerprints({ keptMs: KEPT_MS, seed, capacity });
}

function use(timestampSeconds: number, signature = crypto.getRandomValues(new Uint8Array(64))) {
  return { signature, timestampSeconds };
}

Deno.test("Fingerprints has every signature that was added, and of others practically none", () => {
  const fingerprints = make();
  const added = Array.from({ length: 20_000 }, (_, i) => use(NOW_SECONDS + i % 30));
  for (const one of added) {
    assert.equal(fingerprints.mayHave(one), false);
    fingerprints.add(one);
  }
  assert.equal(fingerprints.size, added.length);
  for (const one of added) {
    assert.ok(fingerprints.mayHave(one));
    fingerprints.add(one); // again: counted once
  }
  assert.equal(fingerprints.size, added.length);
  for (let i = 0; i < 20_000; i++) assert.equal(fingerprints.mayHave(use(NOW_SECONDS)), false);
});

Deno.test("Fingerprints.forgetExpired() forgets what can no longer pass, and not a second earlier", () => {
  const fingerprints = make();
  const one = use(NOW_SECONDS);
  fingerprints.add(one);
  fingerprints.forgetExpired(NOW_SECONDS * 1000 + KEPT_MS);
  assert.ok(fingerprints.mayHave(one));
  fingerprints.forgetExpired((NOW_SECONDS + 20) * 1000 + KEPT_MS);
  assert.equal(fingerprints.mayHave(one), false);
  assert.equal(fingerprints.size, 0);
});

Deno.test("Fingerprints knows what it has forgotten, so that a clock that jumped makes no replay new", () => {
  const fingerprints = make();
  const before = use(NOW_SECONDS);
  fingerprints.add(before);
  fingerprints.forgetExpired(NOW_SECONDS * 1000 + 3_600_000); // an hour ahead, and back
  assert.equal(fingerprints.mayHave(before), false);
  assert.equal(fingerprints.isComplete(NOW_SECONDS), false);
  assert.ok(fingerprints.isComplete(NOW_SECONDS + 10));
  const after = use(NOW_SECONDS);
  fingerprints.add(after);
  assert.ok(fingerprints.mayHave(after));
  assert.equal(fingerprints.isComplete(NOW_SECONDS), false);
});

Deno.test("Fingerprints holds its capacity by forgetting the oldest seconds first", () => {
  const fingerprints = make(1_000);
  const uses = Array.from({ length: 3_000 }, (_, i) => use(NOW_SECONDS + Math.floor(i / 10)));
  for (const one of uses) {
    fingerprints.add(one);
    assert.ok(fingerprints.size <= 1_000);
  }
  assert.ok(fingerprints.mayHave(uses.at(-1)!));
  assert.ok(fingerprints.isComplete(uses.at(-1)!.timestampSeconds));
  for (const one of uses) {
    assert.ok(fingerprints.mayHave(one) || !fingerprints.isComplete(one.timestampSeconds));
  }
});

Deno.test("Fingerprints spreads signatures that a sender has chosen to collide", () => {
  const fingerprints = make();
  const beganMs = performance.now();
  for (let i = 0; i < 100_000; i++) {
    const signature = new Uint8Array(64);
    new DataView(signature.buffer).setUint32(0, i); // equal in their low bits
    fingerprints.add(use(NOW_SECONDS, signature));
  }
  // In one run of slots this would take hours.
  assert.ok(performance.now() - beganMs < 5_000);
  assert.equal(fingerprints.size, 100_000);
});
