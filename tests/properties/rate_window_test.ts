import assert from "node:assert/strict";
import fc from "fast-check";
import { admit } from "../../server/base/bounds/rate_window.ts";
import { propertyRuns } from "../support/property_runs.ts";

const WINDOW_MS = 60_000;
const SKEW_MS = 5_000;

/** Steps of a clock: mostly small, some over a window, some back. */
const steps = (size: number) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 1_500 }) },
      { weight: 1, arbitrary: fc.integer({ min: -SKEW_MS, max: 0 }) },
      { weight: 1, arbitrary: fc.integer({ min: -200_000, max: 200_000 }) },
    ),
    { minLength: size / 2, maxLength: size, size: "max" },
  );

/** The rule as it is told, over plain stamps; what left the window before an acceptance is forgotten. */
function slowAdmit(stamps: number[], nowMs: number, limit: number): number | null {
  const known = stamps.filter((stamp) => stamp <= nowMs + SKEW_MS);
  const at = Math.max(nowMs, ...known);
  const inside = known.filter((stamp) => stamp > at - WINDOW_MS && stamp <= at);
  if (inside.length >= limit) return Math.min(WINDOW_MS, Math.min(...inside) + WINDOW_MS - at);
  stamps.splice(0, stamps.length, ...inside, at);
  return null;
}

Deno.test("admit() decides and waits as the rule does over plain stamps, whatever the clock does", () => {
  fc.assert(
    fc.property(steps(200), fc.integer({ min: 1, max: 12 }), (moves, limit) => {
      const stamps: number[] = [];
      let window: readonly number[] = [];
      let nowMs = 1_780_000_000_000;
      for (const move of moves) {
        nowMs += move;
        const decision = admit(window, nowMs, { limit, windowMs: WINDOW_MS });
        const waitMs = slowAdmit(stamps, nowMs, limit);
        if ("window" in decision) {
          assert.equal(waitMs, null);
          window = decision.window;
        } else assert.equal(decision.retryAfterMs, waitMs);
      }
    }),
    propertyRuns(300),
  );
});

Deno.test("admit() in buckets never lets more than the limit into any window", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 700, maxLength: 1_500 }),
      (moves) => {
        const limit = 601;
        const accepted: number[] = [];
        let window: readonly number[] = [];
        let nowMs = 1_780_000_000_000;
        for (const move of moves) {
          nowMs += move;
          const decision = admit(window, nowMs, { limit, windowMs: WINDOW_MS });
          if (!("window" in decision)) continue;
          window = decision.window;
          accepted.push(nowMs);
        }
        for (let i = limit; i < accepted.length; i++) {
          assert.ok(accepted[i]! - accepted[i - limit]! >= WINDOW_MS);
        }
        assert.ok(window.length / 2 <= 61, "a pair a second");
      },
    ),
    propertyRuns(30),
  );
});

Deno.test("admit() accepts after the wait that it told, for small and large limits", () => {
  fc.assert(
    fc.property(steps(1_000), fc.constantFrom(1, 3, 60, 601, 700), (moves, limit) => {
      let window: readonly number[] = [];
      let nowMs = 1_780_000_000_000;
      const rule = { limit, windowMs: WINDOW_MS };
      for (const move of moves) {
        nowMs += Math.max(0, move);
        const decision = admit(window, nowMs, rule);
        if ("window" in decision) window = decision.window;
        else {
          assert.ok(decision.retryAfterMs >= 1 && decision.retryAfterMs <= WINDOW_MS);
          assert.ok("window" in admit(window, nowMs + decision.retryAfterMs, rule));
        }
      }
    }),
    propertyRuns(60),
  );
});

Deno.test("admit() changes neither the window it is given nor its order", () => {
  fc.assert(
    fc.property(steps(100), (moves) => {
      let window: readonly number[] = Object.freeze([]);
      let nowMs = 1_780_000_000_000;
      for (const move of moves) {
        const decision = admit(window, nowMs += move, { limit: 50, windowMs: WINDOW_MS });
        if (!("window" in decision)) continue;
        window = Object.freeze(decision.window);
        for (let i = 2; i < window.length; i += 2) assert.ok(window[i]! > window[i - 2]!);
      }
    }),
    propertyRuns(100),
  );
});
