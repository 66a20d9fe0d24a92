/** Delivery events that the operator's gateway hands in. */
import assert from "node:assert/strict";
import { type HandedInEvents, handInEvents } from "../../support/inbound_mail.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { parseConfig } from "../../../server/base/config/config.ts";
import type { Mailer } from "../../../server/base/mailer/mailer.ts";
import { deliver, newSendingOrg, readMessage, send } from "../../support/sending_org.ts";

const tell = async (relay: TestRelay, events: unknown[]) =>
  accepted(await handInEvents(relay, JSON.stringify({ events })), 200);

const AT = "2026-06-01T12:00:00Z";

Deno.test("events bring recipients on, of either id, in their order, and say why they do not", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const to = ["ann", "bob", "cid", "dan", "eve"].map((name) => `${name}@example.org`);
  const sent = accepted(await send(owner, inbox, { to }), 202);
  const waiting = accepted(
    await send(owner, inbox, { send_at: new Date(relay.clock.now() + 60_000).toISOString() }),
    202,
  );
  await deliver(relay);
  relay.clock.advance(5_000);
  const about = (type: string, recipient: string, more: object = {}) => ({
    type,
    message_id: sent.id,
    recipient,
    at: AT,
    ...more,
  });
  const result = await tell(relay, [
    about("delivered", "Ann@Example.org"),
    about("delivered", "ann@example.org"),
    {
      type: "delivered",
      rfc_message_id: sent.rfc_message_id,
      recipient: "bob@example.org",
      at: AT,
    },
    {
      type: "bounced",
      rfc_message_id: `<${sent.rfc_message_id}>`,
      recipient: "bob@example.org",
      bounce_type: "hard",
      smtp_code: 550,
      enhanced_code: "5.1.1",
      detail: "no such\r\nuser",
      at: AT,
    },
    about("complained", "cid@example.org"),
    about("delivered", "cid@example.org"),
    about("bounced", "dan@example.org", { enhanced_code: "5.1.1" }),
    about("bounced", "eve@example.org", { smtp_code: 550 }),
    about("delivered", "nobody@example.org"),
    { ...about("delivered", to[0]!), message_id: "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV" },
    { ...about("delivered", to[0]!), message_id: undefined, rfc_message_id: "no@where" },
    about("opened", to[0]!),
    about("delivered", to[0]!, { at: "yesterday" }),
    about("delivered", "not an address"),
    about("delivered", to[0]!, { message_id: 7 }),
    about("bounced", to[0]!, { bounce_type: "medium" }),
    about("bounced", to[0]!, { smtp_code: "550" }),
    about("bounced", to[0]!, { enhanced_code: "9.1.1" }),
    "delivered",
    null,
    { ...about("delivered", "ann@example.org"), message_id: waiting.id },
  ]);
  const reasons = new Map<number, string>(
    result.ignored.map(({ index, reason }: { index: number; reason: string }) => [index, reason]),
  );
  assert.deepEqual([...reasons], [
    [1, "repeated"],
    [5, "final"],
    [8, "unknown_recipient"],
    [9, "unknown_message"],
    [10, "unknown_message"],
    ...Array.from({ length: 9 }, (_, i) => [11 + i, "malformed"]),
    [20, "unknown_recipient"],
  ]);
  assert.equal(result.applied, 21 - reasons.size);
  const { recipients, status } = await readMessage(owner, sent.id);
  assert.equal(status, "complained");
  assert.deepEqual(
    recipients.map((one: Record<string, unknown>) => [
      one["status"],
      one["smtp_code"],
      one["enhanced_code"],
      one["detail"],
    ]),
    [
      ["delivered", null, null, null],
      ["bounced", 550, "5.1.1", "no such user"],
      ["complained", 250, null, recipients[2].detail],
      ["bounced", null, "5.1.1", null],
      ["bounced", 550, null, null],
    ],
  );
  // Its time is kept where possible: not before what was there, not ahead of now.
  assert.ok(recipients[0].at >= sent.created_at);
  const listed = accepted(await owner.ask("GET", "/v1/mail/suppressions"), 200).data;
  assert.deepEqual(
    listed.map(({ address, reason }: Record<string, string>) => [address, reason]).sort(),
    [
      ["bob@example.org", "hard_bounce"],
      ["cid@example.org", "complaint"],
      ["dan@example.org", "hard_bounce"],
    ],
  );
  relay.clock.advance(30 * 86_400_000);
  const late = await tell(relay, [about("complained", to[0]!)]);
  assert.deepEqual(late, { applied: 0, ignored: [{ index: 0, reason: "unknown_message" }] });
});

Deno.test("events of a mail of which nobody knows settle it, and those of deleted messages are unknown", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const sent = accepted(await send(owner, inbox, { to: "who@unknown.test" }), 202);
  await deliver(relay);
  assert.equal((await readMessage(owner, sent.id)).recipients[0].reason, "unknown");
  const event = { message_id: sent.id, recipient: "who@unknown.test", at: AT };
  assert.equal((await tell(relay, [{ ...event, type: "delivered" }])).applied, 1);
  const message = await readMessage(owner, sent.id);
  assert.deepEqual([message.status, message.recipients[0].reason], ["delivered", null]);
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${sent.id}`), 204);
  const gone = await tell(relay, [{ ...event, type: "bounced" }]);
  assert.deepEqual(gone.ignored, [{ index: 0, reason: "unknown_message" }]);
  accepted(await owner.deleteOrg(), 204);
  assert.equal((await tell(relay, [{ ...event, type: "bounced" }])).applied, 0);
});

Deno.test("events are signed over id, timestamp and body, are JSON, and are at most 1,000 and 1 MiB", async () => {
  await using relay = await startMailRelay();
  const body = JSON.stringify({ events: [] });
  assert.deepEqual(accepted(await handInEvents(relay, body), 200), { applied: 0, ignored: [] });
  const wrong: HandedInEvents[] = [
    { secret: new Uint8Array(32) },
    { signed: body + " " },
    { signed: `{"from":"","to":["a@b"]}.${body}` },
  ];
  for (const options of wrong) {
    assertMailRefused(await handInEvents(relay, body, options), "invalid_signature");
  }
  const nowS = Math.floor(relay.clock.now() / 1000);
  for (const timestamp of [nowS - 301, nowS + 301]) {
    const answer = await handInEvents(relay, body, { timestamp });
    assertMailRefused(answer, "timestamp_out_of_range");
  }
  for (const other of ["", "[]", "{", '{"events":{}}', '{"events":1}', "{}"]) {
    assertMailRefused(await handInEvents(relay, other), "invalid_json");
  }
  const many = (count: number) => JSON.stringify({ events: Array(count).fill({}) });
  const { ignored } = accepted(await handInEvents(relay, many(1_000)), 200);
  assert.equal(ignored.length, 1_000);
  assertMailRefused(await handInEvents(relay, many(1_001)), "invalid_json", /1000/);
  const padded = (bytes: number) => body.padEnd(bytes);
  accepted(await handInEvents(relay, padded(1_048_576)), 200);
  assertMailRefused(await handInEvents(relay, padded(1_048_577)), "payload_too_large");
});

Deno.test("events are refused where the operator has set no secret", async () => {
  const { mail } = parseConfig({
    RELAY_SMTP_URL: "smtp://127.0.0.1:1",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "agents.test",
  });
  const mailer: Mailer = {
    send: () => Promise.reject(new Error("nothing is sent")),
    close: () => Promise.resolve(),
  };
  await using relay = await startTestRelay({ config: { mail }, deps: { mailer } });
  const answer = await handInEvents(relay, JSON.stringify({ events: [] }));
  assertMailRefused(answer, "not_found", /RELAY_MAIL_INBOUND_SECRET/);
});

Deno.test("the event of docs/mail.md is applied as it stands there, but for the message", async () => {
  const document = await Deno.readTextFile(new URL("../../../docs/mail.md", import.meta.url));
  const [, example] = /\n## Delivery events\n[^]*?```json\n([^]*?)```/.exec(document)!;
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const { id, rfc_message_id } = accepted(
    await send(owner, inbox, { to: "pat@example.org" }),
    202,
  );
  await deliver(relay);
  const body = example!.replace(/(?<="rfc_message_id": ")[^"]+/, rfc_message_id);
  const told = accepted(await handInEvents(relay, body), 200);
  assert.deepEqual(told, { applied: 1, ignored: [] });
  const { recipients: [recipient] } = await readMessage(owner, id);
  assert.deepEqual(
    [recipient.status, recipient.enhanced_code, recipient.detail],
    ["bounced", "5.1.1", "no such user"],
  );
  const { data } = accepted(await owner.ask("GET", "/v1/mail/suppressions"), 200);
  assert.equal(data.length, 1);
});
