/** What the mail area refuses, its description refuses. */
import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { cleanLocalPart } from "../../../server/mail/mailbox/inboxes/local_part.ts";
import { assertMailRefused } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { listMessages, newSendingOrg } from "../../support/sending_org.ts";
import { type Json, readDocument } from "./read_document.ts";

function validatorOf(document: Json, name: string): (body: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, "document");
  const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
  return (body) => validate(body) as boolean;
}

Deno.test("what PATCH refuses to change is refused by its description", async () => {
  await using relay = await startMailRelay();
  const document = await readDocument(relay);
  const patches = Object.entries<Json>(document.paths).filter(([, { patch }]) =>
    patch?.requestBody
  );
  assert.ok(patches.length >= 5);
  for (const [path, { patch }] of patches) {
    const { schema } = patch.requestBody.content["application/json"];
    const body = document.components.schemas[schema.$ref.split("/").at(-1)];
    assert.equal(body.additionalProperties, false, path);
  }
});

Deno.test("the pattern of local_part is what the relay takes", async () => {
  await using relay = await startMailRelay();
  const takes = validatorOf(await readDocument(relay), "MailInboxRequest");
  const parts = [
    "a",
    "A",
    "a.b",
    "a..b",
    ".a",
    "a.",
    "-a",
    "a-",
    "_",
    "a_-.b",
    "a._-b",
    "a-.-b",
    "a b",
    "\u00e4",
    "",
  ];
  const long = ["x".repeat(64), "x".repeat(65), `${"x.".repeat(31)}x`, `${"x".repeat(63)}.`];
  const verdicts = [...parts, ...long].map((local_part) => {
    let isTaken = true;
    try {
      cleanLocalPart(local_part);
    } catch {
      isTaken = false;
    }
    assert.equal(takes({ local_part }), isTaken, local_part);
    return isTaken;
  });
  assert.ok(verdicts.includes(true) && verdicts.includes(false));
});

Deno.test("text or html is required, as the description says", async () => {
  await using relay = await startMailRelay();
  const document = await readDocument(relay);
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const send = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  const bodies = [{}, { text: null }, { text: "" }, { html: null, text: "" }, { subject: "x" }];
  for (const words of bodies) {
    const body = { to: "ann@example.org", ...words };
    assert.equal(validatorOf(document, "MailSendRequest")(body), false);
    assertMailRefused(await owner.ask("POST", send, { body }), "invalid_json");
  }
  for (const words of [{ text: "x" }, { html: "<p>x</p>", text: null }]) {
    assert.ok(validatorOf(document, "MailSendRequest")({ to: "ann@example.org", ...words }));
    assert.ok(validatorOf(document, "MailReplyRequest")(words));
  }
});

Deno.test("a field that was meant for a known one is refused wherever mail is written, and named", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({ local_part: "ada" });
  const timestamp = Math.floor(relay.clock.now() / 1000);
  await handIn(relay.url, { to: [inbox.address], raw: mailText(), timestamp });
  const [message] = await listMessages(owner, inbox);
  const file = { filename: "a.txt", content_type: "text/plain", content: "aGk=" };
  const words = { to: "ann@example.org", text: "x" };
  const cases: [path: string, body: object, named: RegExp][] = [
    [`inboxes/${inbox.id}/messages/send`, { ...words, sendAt: "2030-01-01T00:00:00Z" }, /send_at/],
    [`inboxes/${inbox.id}/messages/send`, { ...words, attachment: [file] }, /attachments/],
    [
      `inboxes/${inbox.id}/messages/send`,
      { ...words, attachments: [{ ...file, contentId: "a@b" }] },
      /attachments\[0\]\.content_id/,
    ],
    [`messages/${message.id}/reply`, { text: "x", replyAll: true }, /reply_all/],
    [`messages/${message.id}/forward`, { ...words, Cc: "bob@example.org" }, /write cc,/],
    [`inboxes/${inbox.id}/drafts`, { ...words, replyTo: "bob@example.org" }, /reply_to/],
  ];
  for (const [path, body, named] of cases) {
    assertMailRefused(await owner.ask("POST", `/v1/mail/${path}`, { body }), "invalid_json", named);
  }
  assert.equal((await listMessages(owner, inbox)).length, 1, "nothing was sent");
});
