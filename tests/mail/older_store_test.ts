/** A store written before there was a mail area, opened by a relay that has one. */
import assert from "node:assert/strict";
import { parseConfig } from "../../server/base/config/config.ts";
import { Buffer } from "node:buffer";
import { deserialize } from "node:v8";
import { accepted, newOrg } from "../support/mail_caller.ts";
import { askMail } from "../support/mail_relay.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { ask } from "../support/answer.ts";
import { callTool } from "../support/tool_client.ts";

/** The custody key under which the stored key of the third agent is sealed. */
const CUSTODY_KEYS = [new Uint8Array(32).fill(1)];

interface Fixture {
  clock_ms: number;
  alice_owner_token: string;
  held_token: string;
  /** Values by node:v8's serialize(), or unsigned counters. */
  rows: { key: (string | number | { bytes: string })[]; v8?: string; u64?: string }[];
}

async function loadOldStore(kv: Deno.Kv): Promise<Fixture> {
  const path = new URL("./fixtures/store_before_mail.json", import.meta.url);
  const fixture: Fixture = JSON.parse(await Deno.readTextFile(path));
  for (const { key, v8, u64 } of fixture.rows) {
    const name = key.map((part) =>
      typeof part === "object" ? Uint8Array.from(Buffer.from(part.bytes, "base64")) : part
    );
    const value = u64 === undefined
      ? deserialize(Buffer.from(v8!, "base64"))
      : new Deno.KvU64(BigInt(u64));
    await kv.set(name, value);
  }
  return fixture;
}

/** What the agents of the old store had, they have. */
async function assertMessaging({ url, clock }: TestRelay, fixture: Fixture): Promise<void> {
  clock.advance(2000);
  const inbox = await ask(`${url}/v1/inbox`, {
    headers: { Authorization: `Bearer ${fixture.alice_owner_token}` },
  });
  assert.equal(inbox.status, 200);
  assert.deepEqual(
    inbox.json.messages.map(({ body }: { body: unknown }) => body),
    [{ n: 1 }, { text: "by the relay" }],
  );
  const sent = await callTool(url, "send_message", {
    token: fixture.held_token,
    to: "bob_1",
    body: "from before",
  });
  assert.equal(sent.isError, false, sent.text);
  const stats = await ask(`${url}/v1/stats`);
  assert.equal(stats.json.total_agents, 3);
}

Deno.test("a store from before mail opens with mail on: agents go on, orgs and inboxes are made", async () => {
  using kv = await openMemoryKv();
  const fixture = await loadOldStore(kv);
  const { mail } = parseConfig({
    RELAY_SMTP_URL: "smtp://127.0.0.1:1",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
  });
  await using relay = await startTestRelay({
    deps: { kv },
    clockStartMs: fixture.clock_ms,
    config: { mail, custodyKeys: CUSTODY_KEYS },
  });
  await assertMessaging(relay, fixture);
  const owner = await newOrg(relay);
  const inbox = await owner.inbox({ local_part: "alice" });
  assert.equal(accepted(await owner.ask("GET", "/v1/mail/inboxes"), 200).data[0].id, inbox.id);
  // The numbers of the mail area are its own.
  const keys = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
  assert.equal(keys.data.length, 1);
});

Deno.test("a store from before mail opens with mail off, and nothing of mail is written to it", async () => {
  using kv = await openMemoryKv();
  const fixture = await loadOldStore(kv);
  await using relay = await startTestRelay({
    deps: { kv },
    clockStartMs: fixture.clock_ms,
    config: { custodyKeys: CUSTODY_KEYS },
  });
  await assertMessaging(relay, fixture);
  const { status } = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body: {} });
  assert.equal(status, 503);
  const rows = await listRows(kv);
  assert.deepEqual(rows.filter((row) => row.includes('"mail')), []);
});
