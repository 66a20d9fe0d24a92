import assert from "node:assert/strict";
import { addressCapKey, admitDigest, DIGESTS_PER_ADDRESS } from "./address_cap.ts";
import fc from "../../../tests/support/seeded_fast_check.ts";

const WINDOW_MS = 6 * 3_600_000;
const NOW = Date.UTC(2026, 5, 1);

Deno.test("addressCapKey() is one for all spellings of an address and shows none", () => {
  assert.deepEqual(addressCapKey("Reader@Example.net"), addressCapKey("reader@example.NET"));
  assert.deepEqual(addressCapKey("reader+a+b@example.net"), addressCapKey("Reader@example.net"));
  assert.notDeepEqual(addressCapKey("a@example.net"), addressCapKey("b@example.net"));
  assert.notDeepEqual(addressCapKey("a+b@example.net"), addressCapKey("a+b@example.org"));
  assert.doesNotMatch(addressCapKey("reader@example.net")[1] as string, /reader|example/);
});

Deno.test("admitDigest() admits the fifth when the first of four is a window old", () => {
  const stampsMs = [NOW, NOW + 1, NOW + 2, NOW + 3];
  assert.deepEqual(admitDigest(stampsMs, NOW + WINDOW_MS - 1, WINDOW_MS), {
    untilMs: NOW + WINDOW_MS,
  });
  assert.deepEqual(admitDigest(stampsMs, NOW + WINDOW_MS, WINDOW_MS), {
    stampsMs: [NOW + 1, NOW + 2, NOW + 3, NOW + WINDOW_MS],
  });
});

Deno.test("admitDigest() moves the stamp of a digest that is sent later", () => {
  const stampsMs = [NOW, NOW + 1, NOW + 2, NOW + 3];
  assert.deepEqual(admitDigest(stampsMs, NOW + 9, WINDOW_MS, NOW + 1), {
    stampsMs: [NOW, NOW + 2, NOW + 3, NOW + 9],
  });
});

Deno.test("admitDigest() forgets stamps that a jumped clock has left ahead", () => {
  const ahead = Array(4).fill(NOW + 3_600_000);
  assert.deepEqual(admitDigest(ahead, NOW, WINDOW_MS), { stampsMs: [NOW] });
});

Deno.test("admitDigest() never lets five into any window, and says when there is room", () => {
  fc.assert(fc.property(fc.array(fc.nat(3 * 3_600_000), { maxLength: 60 }), (gapsMs) => {
    let nowMs = NOW;
    let stampsMs: number[] = [];
    const admittedMs: number[] = [];
    for (const gapMs of gapsMs) {
      nowMs += gapMs;
      const admitted = admitDigest(stampsMs, nowMs, WINDOW_MS);
      if ("untilMs" in admitted) {
        assert.ok(admitted.untilMs > nowMs && admitted.untilMs <= nowMs + WINDOW_MS);
        assert.ok("stampsMs" in admitDigest(stampsMs, admitted.untilMs, WINDOW_MS));
        continue;
      }
      ({ stampsMs } = admitted);
      admittedMs.push(nowMs);
    }
    for (const atMs of admittedMs) {
      const within = admittedMs.filter((other) => other > atMs - WINDOW_MS && other <= atMs);
      assert.ok(within.length <= DIGESTS_PER_ADDRESS);
    }
  }));
});
