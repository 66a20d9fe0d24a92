import assert from "node:assert/strict";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { ERROR_STATUS } from "../../../server/base/errors.ts";
import { EXAMPLE_INBOX_MESSAGE, EXAMPLE_SEND } from "../../../server/base/description/examples.ts";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import { canonicalJson, verifyMessage } from "../../../toolkit/mod.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startTestRelay } from "../../support/relay.ts";
import { describedRoutes, type Json, readDocument } from "./read_document.ts";

Deno.test("GET /openapi.json is OpenAPI 3.1, version 0.2.1, at the relay's own address", async () => {
  await using relay = await startTestRelay({ config: { baseUrl: "https://relay.test" } });
  const { openapi, info, servers } = await readDocument(relay);
  assert.match(openapi, /^3\.1\.\d+$/);
  assert.equal(info.version, "0.2.1");
  assert.deepEqual(servers.map(({ url }: Json) => url), ["https://relay.test"]);
  const answer = await fetch(`${relay.url}/openapi.json`, { method: "HEAD" });
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
});

/** What answers 503 alone has no success to describe. */
const NO_SUCCESS_WHILE_MAIL_IS_OFF =
  /^operation-2xx-response #\/paths\/~1(v1~1mail~1|v1~1admin~1mail~1|mail~1|mcp~1mail)/;

Deno.test("the description lints clean by the strict rules of a public linter", async () => {
  await using relay = await startTestRelay({ config: { baseUrl: "https://relay.test" } });
  const config = await createConfig({ extends: ["recommended-strict"] });
  const lint = async (source: string) =>
    (await lintFromString({ source, absoluteRef: "openapi.json", config }))
      .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
      .filter((problem) => !NO_SUCCESS_WHILE_MAIL_IS_OFF.test(problem));
  const document = await readDocument(relay);
  assert.deepEqual(await lint(JSON.stringify(document)), []);

  const broken = structuredClone(document);
  broken.paths["/v1/inbox"].get.operationId = "whoami";
  broken.paths["/v1/outbox"].get.responses["200"].content["application/json"].schema = {
    $ref: "#/components/schemas/Nothing",
  };
  const problems = await lint(JSON.stringify(broken));
  assert.ok(problems.some((problem) => problem.startsWith("operation-operationId-unique")));
  assert.ok(problems.some((problem) => problem.startsWith("no-unresolved-refs")));
});

Deno.test("each error code is described where its status says, and each operation teaches", async () => {
  // With mail on, so that its codes are described too.
  await using relay = await startMailRelay();
  const document = await readDocument(relay);
  const seen = new Set<string>();
  for (const { name, operation } of describedRoutes(document)) {
    assert.ok(operation.description.length >= 30, name);
    assert.ok(Array.isArray(operation.security), name);
    for (const [status, given] of Object.entries<Json>(operation.responses)) {
      const response = given.$ref === undefined
        ? given
        : document.components.responses[given.$ref.split("/").at(-1)];
      if (!/^[45]\d\d$/.test(status)) continue;
      const { schema } = response.content["application/json"];
      const codes = (schema.anyOf?.[0] ?? schema).properties?.error?.properties.code.enum ?? [];
      for (const code of codes) {
        assert.equal(ERROR_STATUS[code as keyof typeof ERROR_STATUS], Number(status), name);
        assert.ok(response.description.includes(`\`${code}\``), `${name} ${code}`);
        seen.add(code);
      }
      assert.ok(codes.length > 0 || name.startsWith("POST /mcp"), `${name} ${status}`);
    }
  }
  // 405 is no answer of any operation: it stands in the general refusal of each.
  const { schema } = document.components.responses.OtherRefusal.content["application/json"];
  assert.equal(schema.$ref, "#/components/schemas/Error");
  const all = document.components.schemas.Error.properties.error.properties.code.enum;
  assert.deepEqual(all, Object.keys(ERROR_STATUS));
  assert.deepEqual([...seen, "method_not_allowed"].toSorted(), all.toSorted());
});

Deno.test("the description tells the limits in force, as GET /v1/limits does", async () => {
  const changed = { sendsPerAgentPerMinute: 77, searchesPerIpPerMinute: 78 };
  await using relay = await startTestRelay({ limits: changed });
  const { limits, server_time, ...rest } = await (await fetch(`${relay.url}/v1/limits`)).json();
  assert.deepEqual(limits, { ...DEFAULT_LIMITS, ...changed });
  assert.equal(server_time, new Date(relay.clock.now()).toISOString());
  assert.deepEqual(rest, {});
  const { paths, components } = await readDocument(relay);
  assert.match(paths["/v1/messages"].post.description, /77 messages an agent a minute/);
  assert.match(
    JSON.stringify(paths["/agents"].get.responses),
    /over 78 answered searches a minute/,
  );
  const described = components.schemas.LimitsInForce.properties.limits;
  assert.deepEqual(described.required, Object.keys(DEFAULT_LIMITS));
});

Deno.test("the examples of the description fit together: the message verifies", async () => {
  const requestBytes = new TextEncoder().encode(canonicalJson(EXAMPLE_SEND));
  const report = await verifyMessage(EXAMPLE_INBOX_MESSAGE, { request: requestBytes });
  assert.equal(report.signature, "valid");
  assert.equal(report.contentHash, "match");
  assert.equal(report.body, "bound");
});

Deno.test("the client in the description registers, sends and polls as it stands there", async () => {
  await using relay = await startTestRelay({ clockStartMs: "real" });
  const { info } = await readDocument(relay);
  const [, sample] = /```js\n([\s\S]*?)```/.exec(info.description)!;
  assert.ok(sample!.includes(relay.url));
  const before = Deno.env.get("RELAY_PRIVATE_KEY_HEX");
  Deno.env.set("RELAY_PRIVATE_KEY_HEX", "03".repeat(32));
  try {
    const { address, call } = await import(`data:text/javascript,${encodeURIComponent(sample!)}`);
    const register = JSON.stringify({ handle: "sampled", pubkey: address });
    assert.equal((await call("POST", "/v1/register", { body: register })).status, 201);
    const body = JSON.stringify({ to: "sampled", body: { text: "Hello é" } });
    // Two equal sends are two messages, however soon the second follows.
    const sends = [call("POST", "/v1/messages", { body }), call("POST", "/v1/messages", { body })];
    assert.deepEqual((await Promise.all(sends)).map(({ status }: Json) => status), [201, 201]);
    const { status, answer } = await call("GET", "/v1/inbox", { query: "?since_id=0&wait=1" });
    assert.equal(status, 200);
    assert.deepEqual(answer.messages.map(({ from }: Json) => from), [address, address]);
    const report = await verifyMessage(answer.messages[0], {
      from: address,
      request: new TextEncoder().encode(body),
    });
    assert.deepEqual([report.signature, report.sender, report.body], ["valid", "pinned", "bound"]);
  } finally {
    if (before === undefined) Deno.env.delete("RELAY_PRIVATE_KEY_HEX");
    else Deno.env.set("RELAY_PRIVATE_KEY_HEX", before);
  }
});
