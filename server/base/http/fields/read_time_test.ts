import assert from "node:assert/strict";
import { readTime } from "./read_time.ts";

Deno.test("readTime takes RFC 3339 in every zone, to the millisecond", () => {
  const atMs = Date.UTC(2027, 0, 31, 12, 0, 0);
  const spellings: [string, number][] = [
    ["2027-01-31T12:00:00Z", atMs],
    ["2027-01-31t12:00:00z", atMs],
    ["2027-01-31T13:30:00+01:30", atMs],
    ["2027-01-31T12:00:00.5Z", atMs + 500],
    ["2027-01-31T12:00:00.123999999Z", atMs + 123],
  ];
  for (const [text, expected] of spellings) assert.equal(readTime("at", text), expected, text);
});

Deno.test("readTime refuses everything else, naming the field", () => {
  const bad = [
    "2027-02-31T12:00:00Z",
    "2027-01-31",
    "2027-01-31 12:00:00Z",
    "2027-01-31T12:00:00",
    "2027-01-31T25:00:00Z",
    "2027-13-01T12:00:00Z",
    "",
    1_800_000_000,
    null,
    {},
  ];
  for (const value of bad) {
    assert.throws(() => readTime("send_at", value), {
      code: "invalid_json",
      message: /^send_at must be a time/,
    }, String(value));
  }
});
