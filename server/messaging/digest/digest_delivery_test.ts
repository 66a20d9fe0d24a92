import assert from "node:assert/strict";
import { retryMs } from "./digest_delivery.ts";

Deno.test("retryMs() tries again within 5 minutes after every attempt, tick included", () => {
  for (const attempts of [0, 1, 2, 3, 4, 5, 100, 1e6]) {
    for (const share of [0, 0.5, 0.999]) {
      const waitMs = retryMs(attempts, share);
      assert.ok(waitMs >= 50_000 && waitMs + 1_000 <= 5 * 60_000, `${attempts}: ${waitMs}`);
    }
  }
  assert.equal(retryMs(1, 0), 60_000);
  assert.equal(retryMs(1, 1), 54_000);
});
