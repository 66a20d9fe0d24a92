import { ok } from "node:assert/strict";
import { serialize } from "node:v8";
import { valueSizeBytes } from "./stored_size.ts";

Deno.test("valueSizeBytes() is never less than what the store keeps", () => {
  const values: unknown[] = [
    null,
    true,
    0,
    -1,
    2 ** 53,
    1.5,
    "",
    "handle",
    "wörter",
    "\u{1F600}".repeat(50),
    new Uint8Array(60_000),
    [],
    Array.from({ length: 600 }, (_, i) => 1_700_000_000_000 + i),
    Array.from({ length: 1_000 }, (_, i) => [2 ** 52 + i, 2 ** 52 + i + 5]),
    { v: 1, banned: false, head: 2 ** 52, attempt: "0123456789abcdef", notify: null },
    { tags: ["a".repeat(32), "b"], description: "é".repeat(500), nested: { days: { 20_000: 5 } } },
    10n ** 30n,
  ];
  for (const value of values) {
    const keptBytes = serialize(value).byteLength;
    ok(valueSizeBytes(value) >= keptBytes, `${valueSizeBytes(value)} of ${keptBytes}`);
  }
});
