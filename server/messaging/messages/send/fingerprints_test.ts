import assert from "node:assert/strict";
import { fingerprintOf, Fingerprints, type UseRowKey } from "./fingerprints.ts";
import { bucketOf } from "./use_group.ts";

/** By the monotonic clock. */
const UNTIL_MS = 361_000;
const NOW_SECONDS = 1_780_000_000;

/** Complete for some seconds from now on. */
function make(capacity?: number, seconds = 30): Fingerprints {
  const seed = crypto.getRandomValues(new Uint8Array(8));
  const fingerprints = new Fingerprints({ seed, capacity });
  for (let at = 0; at < seconds; at += 10) {
    fingerprints.restore(bucketOf(NOW_SECONDS + at), UNTIL_MS + at * 1000)();
  }
  return fingerprints;
}

interface One {
  half: Uint8Array;
  second: number;
}

function use(second: number, half = crypto.getRandomValues(new Uint8Array(32))): One {
  return { half, second };
}

function add(fingerprints: Fingerprints, { half, second }: One, place: UseRowKey = null): void {
  fingerprints.add(fingerprintOf(half, 0), second, place);
}

function has(fingerprints: Fingerprints, { half, second }: One): boolean {
  return fingerprints.placesOf(fingerprintOf(half, 0), second).length > 0;
}

Deno.test("Fingerprints has every signature that was added, and of others practically none", () => {
  const fingerprints = make();
  const added = Array.from({ length: 20_000 }, (_, i) => use(NOW_SECONDS + i % 30));
  for (const one of added) {
    assert.equal(has(fingerprints, one), false);
    add(fingerprints, one);
  }
  assert.equal(fingerprints.size, added.length);
  for (const one of added) {
    assert.ok(has(fingerprints, one));
    add(fingerprints, one); // again: counted once
  }
  assert.equal(fingerprints.size, added.length);
  for (let i = 0; i < 20_000; i++) assert.equal(has(fingerprints, use(NOW_SECONDS)), false);
});

Deno.test("Fingerprints tells in which rows a signature may stand, and all of them", () => {
  const fingerprints = make();
  const rows = Array.from({ length: 3_000 }, (_, i) => ["sig", "group", NOW_SECONDS, 1, `a${i}`]);
  const uses = rows.map((row) => {
    const pair = [use(NOW_SECONDS), use(NOW_SECONDS)];
    for (const one of pair) add(fingerprints, one, row);
    return pair;
  });
  for (const [i, pair] of uses.entries()) {
    for (const { half, second } of pair) {
      assert.deepEqual(fingerprints.placesOf(fingerprintOf(half, 0), second), [rows[i]]);
    }
  }
  const { half, second } = uses[5]![0]!;
  add(fingerprints, { half, second }, rows[9]);
  add(fingerprints, { half, second }, null);
  assert.deepEqual(fingerprints.placesOf(fingerprintOf(half, 0), second), [rows[5], rows[9], null]);
});

Deno.test("Fingerprints.forgetExpired() forgets what can no longer pass, and not earlier", () => {
  const fingerprints = make();
  const one = use(NOW_SECONDS);
  add(fingerprints, one);
  fingerprints.forgetExpired(UNTIL_MS);
  assert.ok(has(fingerprints, one));
  fingerprints.forgetExpired(UNTIL_MS + 1);
  assert.equal(has(fingerprints, one), false);
  assert.ok(fingerprints.isComplete(NOW_SECONDS + 10));
  assert.equal(fingerprints.size, 0);
});

Deno.test("Fingerprints knows what it has forgotten, so that no replay becomes new", () => {
  const fingerprints = make();
  const before = use(NOW_SECONDS);
  add(fingerprints, before);
  fingerprints.forgetExpired(3_600_000);
  assert.equal(has(fingerprints, before), false);
  assert.equal(fingerprints.isComplete(NOW_SECONDS), false);
  const after = use(NOW_SECONDS);
  add(fingerprints, after);
  assert.equal(fingerprints.isComplete(NOW_SECONDS), false);
  // Read again from the store: what is added meanwhile counts, and complete it is at the end only.
  const restored = fingerprints.restore(bucketOf(NOW_SECONDS), UNTIL_MS);
  add(fingerprints, after);
  assert.ok(has(fingerprints, after));
  assert.equal(fingerprints.isComplete(NOW_SECONDS), false);
  restored();
  assert.ok(fingerprints.isComplete(NOW_SECONDS));
  assert.equal(fingerprints.isComplete(NOW_SECONDS + 10), false);
});

Deno.test("Fingerprints holds its capacity by forgetting the oldest seconds first", () => {
  const fingerprints = make(1_000, 300);
  const uses = Array.from({ length: 3_000 }, (_, i) => use(NOW_SECONDS + Math.floor(i / 10)));
  for (const one of uses) {
    add(fingerprints, one);
    assert.ok(fingerprints.size <= 1_000);
  }
  assert.ok(has(fingerprints, uses.at(-1)!));
  assert.ok(fingerprints.isComplete(uses.at(-1)!.second));
  for (const one of uses) {
    assert.ok(has(fingerprints, one) || !fingerprints.isComplete(one.second));
  }
});

Deno.test("Fingerprints spreads signatures that a sender has chosen to collide", () => {
  const fingerprints = make();
  const beganMs = performance.now();
  for (let i = 0; i < 100_000; i++) {
    const half = new Uint8Array(32);
    new DataView(half.buffer).setUint32(0, i); // equal in their low bits
    add(fingerprints, use(NOW_SECONDS, half));
  }
  // In one run of slots this would take hours.
  assert.ok(performance.now() - beganMs < 5_000);
  assert.equal(fingerprints.size, 100_000);
});
