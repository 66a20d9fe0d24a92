/** From a request to send to the message as accepted. */
import assert from "node:assert/strict";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { claimLink, follow } from "../../support/mail_links.ts";

Deno.test("a message is accepted, shown, replied to in its thread, and once under its key", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const inbox = await owner.inbox({ local_part: "ada", display_name: "Ada" });
  const path = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  const body = { to: "ann@example.org", subject: "Hello", text: "How are you?" };
  assertMailRefused(await owner.ask("POST", path, { body }), "trial_org_cannot_send");
  accepted(await follow(relay, await claimLink(relay, owner.key, "owner@example.org")), 200);
  const headers = { "Idempotency-Key": '"one"' };
  const first = await owner.ask("POST", path, { body, headers });
  const message = accepted(first, 202);
  assert.equal(message.direction, "outbound");
  assert.equal(message.status, "queued");
  assert.deepEqual(message.from, { name: "Ada", address: inbox.address });
  assert.equal(message.recipients.length, 1);
  assert.equal(message.text, "How are you?");
  const again = await owner.ask("POST", path, { body, headers });
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(again.body, message);
  assertMailRefused(
    await owner.ask("POST", path, { body: { ...body, text: "x" }, headers }),
    "idempotency_key_reused",
  );
  const raw = (await owner.ask("GET", `/v1/mail/messages/${message.id}/raw`)).body;
  assert.match(raw, /^Subject: Hello\r$/m);

  const timestamp = Math.floor(relay.clock.now() / 1000);
  const answer = mailText({
    headers: { From: "ann@example.org", "In-Reply-To": `<${message.rfc_message_id}>` },
  });
  accepted(await handIn(relay.url, { to: [inbox.address], raw: answer, timestamp }), 200);
  const { data } = accepted(await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`), 200);
  assert.deepEqual(data.map((row: { thread_id: string }) => row.thread_id), [
    message.thread_id,
    message.thread_id,
  ]);
  const reply = accepted(
    await owner.ask("POST", `/v1/mail/messages/${data[0].id}/reply`, { body: { text: "Fine." } }),
    202,
  );
  assert.equal(reply.thread_id, message.thread_id);
  assert.equal(reply.subject, "Re: Hello");
  assert.deepEqual(reply.to, [{ name: null, address: "ann@example.org" }]);
});
