/** Which domain a store's inboxes are at, and when the operator may still change it. */
import assert from "node:assert/strict";
import { ConfigError, parseConfig } from "../../server/base/config/config.ts";
import { newKey } from "../support/custody_key.ts";
import { accepted, MailKeyHolder, newOrg } from "../support/mail_caller.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent } from "../support/test_agent.ts";

const CUSTODY_KEYS = [newKey()];

function start(kv: Deno.Kv, domain: string, env: Record<string, string> = {}) {
  const outbound = { RELAY_SMTP_URL: "smtp://127.0.0.1:1", RELAY_MAIL_FROM: "relay@example.org" };
  const isLocal = env["RELAY_MAIL_DEV"] !== undefined;
  const { mail } = parseConfig({ ...(isLocal ? {} : outbound), RELAY_MAIL_DOMAIN: domain, ...env });
  return startTestRelay({ deps: { kv }, config: { mail, custodyKeys: CUSTODY_KEYS } });
}

async function assertRefusesStart(kv: Deno.Kv, domain: string, message: RegExp): Promise<void> {
  await assert.rejects(start(kv, domain), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, message);
    return true;
  });
}

Deno.test("RELAY_MAIL_DOMAIN may be changed until the first inbox is made, orgs or none", async () => {
  using kv = await openMemoryKv();
  await (await start(kv, "mial.example.org")).stop();
  const second = await start(kv, "mail.exmaple.org");
  const { key, orgId } = await newOrg(second);
  await second.stop();
  const third = await start(kv, "mail.example.org");
  assert.ok(
    third.relay.startupNotes().some((note) => note.includes("inboxes at mail.example.org")),
  );
  const owner = new MailKeyHolder(third.url, key, orgId);
  const inbox = await owner.inbox({ local_part: "bob" });
  assert.equal(inbox.address, "bob@mail.example.org");
  await third.stop();

  await assertRefusesStart(kv, "mail.exmaple.org", /RELAY_MAIL_DOMAIN.*must be mail\.example\.org/);
  await using again = await start(kv, "MAIL.example.org");
  accepted(await owner.at(again).ask("GET", "/v1/mail/inboxes/bob@mail.example.org"), 200);
});

Deno.test("once an address was given out the domain stays, though inbox and org are gone", async () => {
  using kv = await openMemoryKv();
  const first = await start(kv, "mail.example.org");
  const owner = await newOrg(first);
  await owner.inbox();
  accepted(await owner.deleteOrg(), 204);
  await first.relay.crons.figures!();
  await first.stop();
  await assertRefusesStart(kv, "other.example.org", /RELAY_MAIL_DOMAIN/);
  await (await start(kv, "mail.example.org")).stop();
});

Deno.test("a store of local mode stays one, and one of real mail stays out of it, addresses or none", async () => {
  const local = { RELAY_MAIL_DEV: "true" };
  using real = await openMemoryKv();
  await (await start(real, "mail.example.org")).stop();
  await assert.rejects(start(real, "mail.example.org", local), /RELAY_MAIL_DEV/);
  using kv = await openMemoryKv();
  await (await start(kv, "agents.test", local)).stop();
  await assert.rejects(start(kv, "agents.test"), /RELAY_MAIL_DEV/);
  await (await start(kv, "other.test", local)).stop();
});

Deno.test("a store in which an agent registered while mail was off is none of local mode", async () => {
  const local = { RELAY_MAIL_DEV: "true" };
  using kv = await openMemoryKv();
  await (await startTestRelay({ deps: { kv } })).stop();
  await (await start(kv, "agents.test", local)).stop();
  using used = await openMemoryKv();
  const relay = await startTestRelay({ deps: { kv: used } });
  await registerAgent(relay, "ada");
  await relay.stop();
  await assert.rejects(start(used, "agents.test", local), /RELAY_MAIL_DEV must be unset/);
});
