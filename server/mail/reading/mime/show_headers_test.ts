import assert from "node:assert/strict";
import { readFields } from "./header_fields.ts";
import { showHeaders } from "./show_headers.ts";
import type { ParseWarning } from "../parsed/parsed_mail.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

function show(text: string) {
  const raw = new TextEncoder().encode(text);
  const warnings = new Set<ParseWarning>();
  const headers = toEnd(showHeaders(raw, toEnd(readFields(raw, 0, raw.length)), warnings));
  return { headers, warnings: [...warnings] };
}

Deno.test("showHeaders() gives values by lowercased names, in order, unfolded and decoded", () => {
  const { headers, warnings } = show(
    "Received: a\r\n\tb\r\nX-Ä: no\r\nSubject:=?utf-8?Q?=C3=A4?=\nreceived: c\n__proto__: d\n",
  );
  assert.deepEqual(Object.entries(headers), [
    ["received", ["a\tb".replace("\t", " "), "c"]],
    ["subject", ["ä"]],
    ["__proto__", ["d"]],
  ]);
  assert.deepEqual(warnings, []);
});

Deno.test("showHeaders() leaves out what does not fit 64 KiB, and keeps shorter ones after it", () => {
  const { headers, warnings } = show(`a: ${"x".repeat(60_000)}\nb: ${"y".repeat(10_000)}\nc: z\n`);
  assert.deepEqual([Object.keys(headers), warnings], [["a", "c"], ["headers_cut"]]);
  assert.deepEqual(show(`a: ${"ä".repeat(32_760)}\n`).warnings, []);
  assert.deepEqual(show(`a: ${"ä".repeat(32_768)}\n`).warnings, ["headers_cut"]);
});
