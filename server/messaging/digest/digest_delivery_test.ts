import assert from "node:assert/strict";
import { retryWaitMs } from "../../base/notices/retry_waits.ts";
import { DIGEST_WAITS } from "./digest_delivery.ts";

Deno.test("DIGEST_WAITS have a digest tried again within 5 minutes after every attempt, tick included", () => {
  for (const attempts of [0, 1, 2, 3, 4, 5, 100, 1e6]) {
    for (const byte of [0, 128, 255]) {
      const waitMs = retryWaitMs(DIGEST_WAITS, attempts, { random: () => Uint8Array.of(byte) });
      assert.ok(waitMs >= 50_000 && waitMs + 1_000 <= 5 * 60_000, `${attempts}: ${waitMs}`);
    }
  }
});
