import assert from "node:assert/strict";
import type { Operation } from "../../base/description/operation.ts";
import { curlSample } from "./curl_sample.ts";

const operation = (changes: Partial<Operation>): Operation => ({
  method: "get",
  path: "/v1/things/{id}",
  id: "anOperation",
  tag: "Service",
  summary: "",
  description: "",
  access: [],
  answers: {},
  ...changes,
});
const BODY = { description: "", schema: { $ref: "#/x" } };

Deno.test("curlSample() writes method, address, credential and body, safely quoted", () => {
  assert.equal(
    curlSample(operation({}), "https://r.test"),
    'curl -sS "https://r.test/v1/things/$ID"',
  );
  const post = operation({
    method: "post",
    path: "/v1/x",
    access: ["signature", "toolToken"],
    body: { ...BODY, examples: { one: { text: "it's $HOME" } } },
  });
  assert.equal(
    curlSample(post, "https://r.test"),
    'curl -sS "https://r.test/v1/x" \\\n  -H "Authorization: Bearer $TOKEN" \\\n' +
      '  -H "Content-Type: application/json" \\\n  -d \'{"text":"it\'\\\'\'s $HOME"}\'',
  );
  const named = operation({ method: "delete", path: "/v1/o", id: "deleteMailOrg", body: BODY });
  assert.match(
    curlSample(named, "http://r")!,
    /-X DELETE .*\n.*\n {2}-d '\{"org_id":"'"\$ORG_ID"'"\}'$/,
  );
});

Deno.test("curlSample() shows nothing that cannot work: signatures, and bodies without an example", () => {
  assert.equal(curlSample(operation({ access: ["signature"] }), "http://r"), null);
  assert.equal(curlSample(operation({ method: "post", body: BODY }), "http://r"), null);
  assert.notEqual(
    curlSample(operation({ access: ["signature"], accessOptional: true }), "http://r"),
    null,
  );
});
