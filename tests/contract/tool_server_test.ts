/** The contract of POST /mcp as a transport, told from outside. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../toolkit/mod.ts";
import { ask, assertErrorShape, assertRefused } from "../support/answer.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay } from "../support/relay.ts";
import { postRpc, rpcRequest } from "../support/tool_client.ts";

const encoder = new TextEncoder();

Deno.test("an unknown tool, method or malformed request is a JSON-RPC error, and so is an empty batch", async () => {
  await using relay = await startTestRelay();
  const unknown = await postRpc(
    relay.url,
    rpcRequest("tools/call", { name: "nope", arguments: {} }),
  );
  assert.equal(unknown.json.result, undefined, unknown.text);
  assert.equal(typeof unknown.json.error.code, "number");
  const method = await postRpc(relay.url, rpcRequest("nope/nope"));
  assert.equal(method.json.error.code, -32601);
  for (
    const body of [
      "",
      "{",
      "[]",
      "5",
      "null",
      `[${rpcRequest("initialize")}]`,
      '{"jsonrpc":"1.0","id":1,"method":"ping"}',
      "\xff",
    ]
  ) {
    const answer = await postRpc(relay.url, encoder.encode(body));
    assert.equal(answer.status, 400, body);
    assert.equal(typeof answer.json.error, "object", body);
  }
  for (const args of ["x", 5, [], null] as JsonValue[]) {
    const answer = await postRpc(
      relay.url,
      rpcRequest("tools/call", { name: "whoami", arguments: args }),
    );
    assert.equal(answer.json.error.code, -32602, answer.text);
  }
  const ping = await postRpc(relay.url, rpcRequest("ping"));
  assert.deepEqual(ping.json.result, {});
  // A notification is accepted without an answer.
  const note = await postRpc(
    relay.url,
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
  );
  assert.equal(note.status, 202);
  assert.equal(note.text, "");
  // ids of every kind come back as they were.
  for (const id of ["a", "", 0, -1, 9007199254740991]) {
    assert.equal((await postRpc(relay.url, rpcRequest("ping", {}, id))).json.id, id);
  }
});

Deno.test("POST /mcp answers any Accept and Content-Type, is bounded at 512 KiB, and takes no other method", async () => {
  await using relay = await startTestRelay();
  for (
    const Accept of [
      "application/json",
      "*/*",
      "text/event-stream",
      "application/json, text/event-stream",
      "text/html",
      "",
    ]
  ) {
    const answer = await postRpc(relay.url, rpcRequest("ping"), { Accept });
    assert.equal(answer.status, 200, `${Accept}: ${answer.text}`);
    assert.equal(answer.headers.get("content-type")?.split(";")[0], "application/json");
  }
  const raw = await askRaw(relay.port, {
    method: "POST",
    target: "/mcp",
    headers: { "Content-Type": "application/json" },
    body: encoder.encode(rpcRequest("ping")),
    host: `127.0.0.1:${relay.port}`,
  });
  assert.equal(raw.status, 200, raw.text);
  const untyped = await askRaw(relay.port, {
    method: "POST",
    target: "/mcp",
    body: encoder.encode(rpcRequest("ping")),
    host: `127.0.0.1:${relay.port}`,
  });
  assert.equal(untyped.status, 200, untyped.text);
  for (const method of ["GET", "DELETE", "PUT", "PATCH", "HEAD"]) {
    const answer = await ask(`${relay.url}/mcp`, { method });
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
    if (method !== "HEAD") assertRefused(answer, "method_not_allowed");
  }
  const options = await ask(`${relay.url}/mcp`, { method: "OPTIONS" });
  assert.equal(options.status, 204);
  const fits = rpcRequest("ping", { arguments: { pad: "" } });
  const padded = fits.replace('"pad":""', `"pad":"${"x".repeat(512 * 1024 - fits.length)}"`);
  assert.equal(padded.length, 512 * 1024);
  const fine = await postRpc(relay.url, padded);
  assert.equal(fine.status, 200, fine.text.slice(0, 200));
  assertRefused(await postRpc(relay.url, padded + " "), "payload_too_large");
  for (const path of ["/mcp/", "/MCP", "/mcp/x", "//mcp"]) {
    assertRefused(await postRpc(relay.url, rpcRequest("ping"), {}, path), "not_found");
  }
});

Deno.test("POST /mcp on loopback takes loopback Hosts and Origins at any port, and no others", async () => {
  await using relay = await startTestRelay();
  const post = (host: string, origin?: string) =>
    askRaw(relay.port, {
      method: "POST",
      target: "/mcp",
      headers: {
        "Content-Type": "application/json",
        ...(origin === undefined ? {} : { Origin: origin }),
      },
      body: encoder.encode(rpcRequest("ping")),
      host,
    });
  for (
    const host of ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:99", "[::1]", "[::1]:5"]
  ) {
    assert.equal((await post(host)).status, 200, host);
  }
  for (
    const host of [
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "127.0.0.2",
      "0.0.0.0",
      "evil.example:8000",
      "evil.example@localhost",
      "localhost@evil.example",
      "",
    ]
  ) {
    const answer = await post(host);
    // A Host that no URL can have never reaches the route.
    assert.equal(answer.status, host.includes("@") ? 404 : 403, host);
    assertErrorShape(answer);
  }
  for (const origin of ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"]) {
    const answer = await post("localhost", origin);
    assert.equal(answer.status, 200, origin);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  }
  for (
    const origin of [
      "http://evil.example",
      "null",
      "http://localhost.evil.example",
      "localhost",
      "file://",
      "http://evil.example:80",
      "http://localhost@evil.example",
    ]
  ) {
    const answer = await post("localhost", origin);
    assertRefused(answer, "forbidden");
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
  }
});

Deno.test("POST /mcp elsewhere takes the base URL's Host alone and any Origin; without a base URL it checks neither", async () => {
  for (const baseUrlSet of [true, false]) {
    await using relay = await startTestRelay({
      config: { host: "0.0.0.0", baseUrl: "https://relay.example.org", baseUrlGiven: baseUrlSet },
    });
    for (
      const [host, status] of [["relay.example.org", 200], ["RELAY.example.org:443", 200], [
        "evil.example",
        baseUrlSet ? 403 : 200,
      ], ["localhost", baseUrlSet ? 403 : 200]] as const
    ) {
      const answer = await askRaw(relay.port, {
        method: "POST",
        target: "/mcp",
        headers: { "Content-Type": "application/json", Origin: "https://anything.example" },
        body: encoder.encode(rpcRequest("ping")),
        host,
      });
      assert.equal(answer.status, status, `${host} ${answer.text}`);
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    }
  }
});
