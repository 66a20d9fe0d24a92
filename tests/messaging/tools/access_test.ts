/** Which Host and Origin reach POST /mcp, and what pages of browsers are told. */
import assert from "node:assert/strict";
import { type Answer, ask, assertRefused } from "../../support/answer.ts";
import { askRaw } from "../../support/raw_request.ts";
import { startTestRelay } from "../../support/relay.ts";
import { rpcRequest } from "../../support/tool_client.ts";

const LIST = rpcRequest("tools/list");
const encoder = new TextEncoder();

function assertListed(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.result.tools[0].name, "register");
}

Deno.test("/mcp on loopback answers to its own names only, and to pages of them", async () => {
  await using relay = await startTestRelay({
    config: { baseUrl: "https://relay.example", baseUrlGiven: true },
  });
  const call = (host: string, origin?: string) =>
    askRaw(relay.port, {
      method: "POST",
      target: "/mcp",
      headers: origin === undefined ? {} : { Origin: origin },
      body: encoder.encode(LIST),
      host,
    });
  for (
    const host of [
      "localhost",
      "LOCALHOST:1",
      "127.0.0.1",
      "127.0.0.1:99",
      `127.0.0.1:${relay.port}`,
      "[::1]",
      "[::1]:99",
      "relay.example",
      "RELAY.example:443",
    ]
  ) {
    assertListed(await call(host));
  }
  for (
    const host of [
      "evil.example",
      "localhost.evil.example",
      "127.0.0.2",
      "notlocalhost",
      "relay.example.evil",
      "127.0.0.1.evil.example",
      "0.0.0.0",
      "evil.example:8000",
      "evil.example@localhost",
      "localhost@evil.example",
      "",
    ]
  ) {
    const answer = await call(host);
    // A Host that no URL can have never reaches the route.
    if (host.includes("@")) assertRefused(answer, "not_found");
    else assertRefused(answer, "forbidden", /Host/);
  }
  for (
    const origin of [
      "http://localhost:5173",
      "https://127.0.0.1",
      "http://[::1]:3000",
      "https://relay.example",
    ]
  ) {
    const answer = await call("localhost", origin);
    assertListed(answer);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  }
  for (
    const origin of [
      "https://evil.example",
      "http://evil.example:80",
      "http://localhost@evil.example",
      "null",
      "file://",
      "localhost",
      "http://localhost.evil",
    ]
  ) {
    const answer = await call("localhost", origin);
    assertRefused(answer, "forbidden", /Origin/);
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
  }
});

Deno.test("/mcp of a public relay answers to the base URL's host only, and to pages of any origin", async () => {
  await using relay = await startTestRelay({
    config: { host: "0.0.0.0", baseUrl: "https://relay.example", baseUrlGiven: true },
  });
  const call = (host: string, origin?: string) =>
    askRaw(relay.port, {
      method: "POST",
      target: "/mcp",
      headers: origin === undefined ? {} : { Origin: origin },
      body: encoder.encode(LIST),
      host,
    });
  assertListed(await call("relay.example"));
  assertListed(await call("RELAY.example:443"));
  const elsewhere = await call("relay.example:8443", "https://anywhere.example");
  assertListed(elsewhere);
  assert.equal(elsewhere.headers.get("access-control-allow-origin"), "*");
  const strange = await call("evil.example", "https://anywhere.example");
  assertRefused(strange, "forbidden");
  assert.equal(strange.headers.get("access-control-allow-origin"), "*");
  assertRefused(await call("localhost"), "forbidden");
  assertRefused(await call("127.0.0.1", "https://relay.example"), "forbidden");
});

Deno.test("/mcp of a public relay without a base URL checks no Host, and start-up says so", async () => {
  await using relay = await startTestRelay({ config: { host: "0.0.0.0", baseUrlGiven: false } });
  const body = encoder.encode(LIST);
  for (const host of ["anything.example", "localhost"]) {
    assertListed(await askRaw(relay.port, { method: "POST", target: "/mcp", body, host }));
  }
  assert.ok(relay.relay.startupNotes().some((line) => /tools .*RELAY_BASE_URL/.test(line)));
  await using local = await startTestRelay();
  assert.ok(!local.relay.startupNotes().some((line) => /^ +tools /.test(line)));
});

Deno.test("/mcp answers preflights of the origins it accepts, and of no others", async () => {
  await using relay = await startTestRelay();
  const preflight = (origin: string) =>
    ask(`${relay.url}/mcp`, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-protocol-version,mcp-param-x",
      },
    });
  const allowed = await preflight("http://localhost:5173");
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers.get("allow"), "POST, OPTIONS");
  assert.equal(allowed.headers.get("access-control-allow-origin"), "*");
  assert.equal(allowed.headers.get("access-control-allow-methods"), "POST, OPTIONS");
  assert.match(allowed.headers.get("access-control-allow-headers")!, /mcp-param-x/);
  assert.equal(allowed.headers.get("access-control-allow-credentials"), null);
  const strange = await preflight("https://evil.example");
  assert.equal(strange.status, 204);
  for (const name of ["origin", "methods", "headers"]) {
    assert.equal(strange.headers.get(`access-control-allow-${name}`), null);
  }
});
