/** A mail of names and files of which the store takes twice as much as they are in UTF-8. */
import assert from "node:assert/strict";
import { putWebhooks, webhookFilter } from "../../support/raised_events.ts";
import { handIn } from "../../support/inbound_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailStore } from "../../support/mail_store.ts";

/** One wide character, which makes its string take two bytes a unit. */
const WIDE = "=?utf-8?Q?=E4=B8=AD?= ";
const person = (i: number) => `${WIDE}${"a".repeat(190)} <a${i}@b.c>`;
const people = Array.from({ length: 60 }, (_, i) => person(i)).join(",\r\n ");
const file = (i: number) =>
  "--b\r\nContent-Type: a/b\r\nContent-Disposition: attachment; " +
  `filename*=utf-8''%E4%B8%AD${"a".repeat(245)}${i}\r\n\r\nx\r\n`;
const smiles = (count: number) => "\u{1f600}".repeat(count);

Deno.test("a mail whose lists are as wide as can be is stored and told of, its lists cut", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const owner = await newOrg(relay);
  const inbox = await owner.inbox({ local_part: "ada" });
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const subject = new TextEncoder().encode(smiles(998)).toBase64();
  const raw = `From: ${person(0)}\r\nTo: ${people}\r\nCc: ${people}\r\nReply-To: ${people}\r\n` +
    `Subject: =?utf-8?B?${subject}?=\r\nMIME-Version: 1.0\r\n` +
    "Content-Type: multipart/mixed; boundary=b\r\n\r\n" +
    `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${smiles(300)}\r\n` +
    `${Array.from({ length: 60 }, (_, i) => file(i)).join("")}--b--\r\n`;
  const answer = await handIn(relay.url, {
    to: Array.from({ length: 60 }, (_, i) => `ada+${"t".repeat(55)}${i}@agents.test`),
    raw,
    timestamp: Math.floor(relay.clock.now() / 1000),
  });
  assert.equal(accepted(answer, 200).accepted.length, 60);
  const { data: [message] } = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`),
    200,
  );
  assert.deepEqual(
    message.parse_warnings.filter((warning: string) => warning.endsWith("_cut")).toSorted(),
    ["addresses_cut", "attachments_cut"],
  );
  assert.ok(message.attachments.length > 10 && message.to.length > 10);
});
