import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson } from "../../../../toolkit/canonical_json.ts";
import { propertyRuns } from "../../../../tests/support/property_runs.ts";
import { checkSend, readSendRequest } from "./send_request.ts";

const encoder = new TextEncoder();

Deno.test("readSendRequest tells the canonical size of any body, stored or too large", () => {
  const members = fc.tuple(fc.jsonValue(), fc.double(), fc.string());
  fc.assert(
    fc.property(members, ([value, number, name]) => {
      const text = JSON.stringify({ to: "bob", body: { z: value, [name]: [number, -0], a: {} } });
      const canonical = canonicalJson(JSON.parse(text).body);
      const sizeBytes = encoder.encode(canonical).length;
      const request = () => checkSend(JSON.parse(text), sizeBytes);
      assert.equal(request().body, canonical);
      assert.equal(request().bodySizeBytes, sizeBytes);
      assert.throws(() => checkSend(JSON.parse(text), sizeBytes - 1), {
        code: "payload_too_large",
        message: `body is ${sizeBytes} bytes in canonical JSON; at most ${
          sizeBytes - 1
        } are allowed`,
      });
    }),
    propertyRuns(300),
  );
});

Deno.test("readSendRequest refuses a body that is too large without sorting its members", () => {
  const read: string[] = [];
  const body = {
    get b() {
      read.push("b");
      return "x".repeat(100);
    },
    get a() {
      read.push("a");
      return 1;
    },
  };
  assert.throws(() => checkSend({ to: "bob", body }, 100), { code: "payload_too_large" });
  assert.deepEqual(read, ["b", "a"]);
  checkSend({ to: "bob", body }, 200);
  assert.deepEqual(read.slice(2), ["b", "a", "a", "b"]);
});

Deno.test("readSendRequest measures the document, not the string, of content_type json", () => {
  const request = { to: "bob", body: ` [ 1.0 ,${" ".repeat(100)}2 ] `, content_type: "json" };
  const bytes = encoder.encode(JSON.stringify(request));
  assert.equal(readSendRequest(bytes, 5).body, "[1,2]");
  assert.throws(() => readSendRequest(bytes, 4), { code: "payload_too_large", message: /is 5 / });
});
