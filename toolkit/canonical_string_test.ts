import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { canonicalString, parseCanonicalString } from "./canonical_string.ts";

const BODY_HASH = "ab".repeat(32);
const GOOD = { method: "POST", path: "/v1/messages", bodyHash: BODY_HASH, timestamp: 1760000000 };

Deno.test("canonicalString() takes the body or its hash", () => {
  equal(canonicalString(GOOD), `relay:v1:POST:/v1/messages:${BODY_HASH}:1760000000`);
  const { bodyHash: _, ...request } = GOOD;
  equal(
    canonicalString({ ...request, body: new Uint8Array(0) }).split(":")[4],
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
});

Deno.test("canonicalString() refuses parts that no relay can have received", () => {
  const wrong = [
    { method: "post" },
    { method: "" },
    { path: "v1" },
    { path: "/v1?x=1" },
    { path: "/v1/ä" },
    { path: "/v1:" + "0".repeat(64) + ":1\n" },
    { bodyHash: "AB".repeat(32) },
    { bodyHash: "ab" },
    { timestamp: 1.5 },
    { timestamp: -1 },
    { timestamp: NaN },
    { timestamp: 1e15 },
    { timestamp: 1e21 },
  ];
  for (const part of wrong) throws(() => canonicalString({ ...GOOD, ...part }), TypeError);
});

Deno.test("parseCanonicalString() gives back the parts, a path with colons too", () => {
  const parts = { ...GOOD, path: "/a:b:" + BODY_HASH + ":5" };
  deepEqual(parseCanonicalString(canonicalString(parts)), parts);
});
