/** A key that cannot sign stops the start: else mail would go out unsigned, or not be believed. */
import assert from "node:assert/strict";
import { ConfigError, parseConfig } from "../../../server/base/config/config.ts";
import { newKey } from "../../support/custody_key.ts";
import { dkimKey } from "../../support/outgoing_mail.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";

async function start(change: { privateKeyPem?: string } = {}) {
  using kv = await openMemoryKv();
  const { mail } = parseConfig({
    RELAY_SMTP_URL: "smtp://127.0.0.1:1",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "agents.test",
    RELAY_MAIL_DKIM_KEY: dkimKey().privateKeyPem,
    RELAY_MAIL_DKIM_SELECTOR: "relay1",
  });
  mail.dkim = { ...mail.dkim!, ...change };
  const relay = await startTestRelay({ deps: { kv }, config: { mail, custodyKeys: [newKey()] } });
  await relay.stop();
}

Deno.test("a relay starts with a DKIM key that signs", async () => {
  await start();
});

Deno.test("a relay does not start with a DKIM key that does not sign", async () => {
  await assert.rejects(start({ privateKeyPem: "-----BEGIN PRIVATE KEY-----" }), (error) => {
    assert(error instanceof ConfigError);
    assert.equal(error.variable, "RELAY_MAIL_DKIM_KEY");
    return true;
  });
});
