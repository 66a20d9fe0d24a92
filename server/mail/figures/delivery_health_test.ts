import assert from "node:assert/strict";
import { deliveryHealth } from "./delivery_health.ts";

Deno.test("deliveryHealth() counts bounces against all that servers were asked to take", () => {
  const health = deliveryHealth({
    taken: 95,
    refused: 5,
    delivered: 80,
    deferred: 1,
    bouncedHard: 2,
    bouncedSoft: 4,
    failed: 3,
    pending: 7,
    sent: 9,
  });
  assert.deepEqual(health, {
    sent: 95,
    delivered: 80,
    deferred: 1,
    bounced: { hard: 2, soft: 4 },
    complained: 0,
    failed: 3,
    pending: 7,
    bounce_rate: 0.06,
    complaint_rate: 0,
    state: "warning",
  });
});

Deno.test("deliveryHealth() gives no rate under 20, and its states by the bounds", () => {
  const few = deliveryHealth({ taken: 10, refused: 9, bouncedHard: 9 });
  assert.deepEqual([few.bounce_rate, few.complaint_rate, few.state], [null, null, "healthy"]);
  const cases: [Parameters<typeof deliveryHealth>[0], string][] = [
    [{ taken: 100, bouncedSoft: 4 }, "healthy"],
    [{ taken: 100, bouncedSoft: 5 }, "warning"],
    [{ taken: 95, refused: 5, bouncedHard: 10 }, "critical"],
    [{ taken: 2_000, complained: 1 }, "healthy"],
    [{ taken: 1_000, complained: 1 }, "warning"],
    [{ taken: 1_000, complained: 5 }, "critical"],
    [{ taken: 19, refused: 1, complained: 19 }, "healthy"],
  ];
  assert.equal(cases.length, 7);
  for (const [counts, state] of cases) {
    assert.equal(deliveryHealth(counts).state, state, JSON.stringify(counts));
  }
});
