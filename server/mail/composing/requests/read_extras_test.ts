import assert from "node:assert/strict";
import { readExtraHeaders } from "./read_extras.ts";

Deno.test("readExtraHeaders() takes a sender's own headers, in order", () => {
  const given = { "X-Campaign": "spring", "X-Pmx": "no provider's" };
  assert.deepEqual(readExtraHeaders(given), [
    { name: "X-Campaign", value: "spring" },
    { name: "X-Pmx", value: "no provider's" },
  ]);
});

Deno.test("readExtraHeaders() refuses names by which mail providers take orders", () => {
  const names = ["X-SMTPAPI", "X-MC-BccAddress", "x-ses-configuration-set", "X-Mailgun-Tag"];
  for (const name of names) {
    assert.throws(() => readExtraHeaders({ [name]: "x" }), /must not begin with X-Relay- or/, name);
  }
});
