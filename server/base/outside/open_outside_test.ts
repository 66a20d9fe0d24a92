import assert from "node:assert/strict";
import { parseConfig } from "../config/config.ts";
import { openOutside, whyNothingIsPosted } from "./open_outside.ts";
import { type ScriptedDns, startScriptedDns } from "../../../tests/support/dns_server.ts";

const MAIL = { webhooks: true, envProxy: false, local: false, allowLoopbackWebhooks: false };

/** A process that has the right to these hosts; "*" is every one. */
function rightsTo(...hosts: string[]): typeof Deno.permissions.querySync {
  return ((right: Deno.NetPermissionDescriptor) => ({
    state: hosts.includes(right.host ?? "*") ? "granted" : "prompt",
  })) as typeof Deno.permissions.querySync;
}

Deno.test("whyNothingIsPosted() names the setting, the proxy or the right", () => {
  const all = rightsTo("*", "127.0.0.1");
  const reason = (mail: Partial<typeof MAIL>, rights = all) =>
    whyNothingIsPosted({ ...MAIL, ...mail }, rights);
  assert.equal(reason({}), null);
  assert.match(reason({ webhooks: false })!, /^RELAY_WEBHOOKS is false$/);
  assert.match(reason({ envProxy: true })!, /^NODE_USE_ENV_PROXY is set, .*: unset it$/);
  assert.match(
    reason({}, rightsTo("127.0.0.1"))!,
    /may not reach every public host: start it with/,
  );
  assert.equal(reason({ allowLoopbackWebhooks: true }, rightsTo("127.0.0.1")), null);
  assert.equal(reason({ local: true, allowLoopbackWebhooks: true }, rightsTo("127.0.0.1")), null);
  assert.match(reason({ local: true }, rightsTo())!, /may not reach 127\.0\.0\.1: start it with/);
});

function opened(env: Record<string, string>) {
  const config = parseConfig(env);
  return openOutside({ config, log: () => {}, now: Date.now });
}

Deno.test("openOutside() asks the DNS servers of the setting", async () => {
  await using dns: ScriptedDns = startScriptedDns({ "A hook.example": { A: ["10.0.0.1"] } });
  const outside = opened({
    RELAY_DNS_SERVERS: `127.0.0.1:${dns.server.port}`,
    RELAY_ALLOW_LOOPBACK_WEBHOOKS: "true",
  });
  assert.equal(outside.refusal, null);
  const { signal } = new AbortController();
  const request = { url: "https://hook.example/", headers: {}, body: new Uint8Array(0), signal };
  assert.equal((await outside.post(request)).error, "blocked_address");
  assert.deepEqual(dns.asked.sort(), ["A hook.example", "AAAA hook.example"]);
});

Deno.test("openOutside() has the rules of its settings", () => {
  const loopback = "http://127.0.0.1:9/";
  const local = opened({ RELAY_MAIL_DEV: "true" });
  assert.equal(local.requireUrl(loopback).href, loopback);
  assert.throws(() => local.requireUrl("https://example.com/"), /local mode/);
  const outside = opened({ RELAY_WEBHOOKS: "false" });
  assert.equal(outside.refusal, "RELAY_WEBHOOKS is false");
  assert.throws(() => outside.requireUrl(loopback), /not public/);
});
