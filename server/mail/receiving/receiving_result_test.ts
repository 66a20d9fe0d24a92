import assert from "node:assert/strict";
import { resultOf } from "./receiving_result.ts";

Deno.test("resultOf() says who has the message and who has it not for good, in their order", () => {
  assert.deepEqual(
    resultOf([
      { address: "a@x.test", code: "blocked" },
      { address: "b@x.test", code: null },
      { address: "c@x.test", code: "not_found" },
      { address: "d@x.test", code: null },
    ]),
    {
      accepted: ["b@x.test", "d@x.test"],
      rejected: [{ address: "a@x.test", code: "blocked" }, {
        address: "c@x.test",
        code: "not_found",
      }],
    },
  );
});

Deno.test("resultOf() has the sender try again, after the longest time, where one has no room or rate", () => {
  assert.throws(
    () =>
      resultOf([
        { address: "a@x.test", code: null },
        { address: "b@x.test", code: "rate_limited", retryAfterMs: 90_000 },
        { address: "c@x.test", code: "over_quota" },
      ]),
    { code: "unavailable", retryAfterMs: 90_000, message: /^2 of 3 recipients/ },
  );
  assert.throws(() => resultOf([{ address: "a@x.test", code: "over_quota" }]), {
    retryAfterMs: 60_000,
  });
});
