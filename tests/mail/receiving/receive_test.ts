/** From a gateway's request to a message that an agent reads. */
import assert from "node:assert/strict";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { registerOrg, startMailRelay } from "../../support/mail_relay.ts";

Deno.test("a message that is handed in is listed, read, threaded and given back byte for byte", async () => {
  await using relay = await startMailRelay();
  const { orgId, apiKey } = await registerOrg(relay);
  const holder = new MailKeyHolder(relay.url, apiKey, orgId);
  const inbox = await holder.inbox({ local_part: "ada" });
  const timestamp = Math.floor(relay.clock.now() / 1000);
  const raw = mailText({
    headers: { "Message-ID": "<one@else.test>" },
    text: "Your code is 482913.\r\n",
  });
  const answer = await handIn(relay.url, { to: ["Ada+tag@agents.test"], raw, timestamp });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.deepEqual(answer.body, { accepted: ["Ada+tag@agents.test"], rejected: [] });

  const list = accepted(await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`), 200);
  assert.equal(list.data.length, 1);
  assert.equal(list.next_cursor, null);
  const [row] = list.data;
  assert.deepEqual(row.envelope, { from: "sender@else.test", to: ["Ada+tag@agents.test"] });
  assert.equal(row.subject, "Hello");
  assert.deepEqual(row.codes, [{ value: "482913", kind: "numeric" }]);
  const whole = accepted(await holder.ask("GET", `/v1/mail/messages/${row.id}`), 200);
  assert.equal(whole.text, "Your code is 482913.\n");
  const given = await holder.ask("GET", `/v1/mail/messages/${row.id}/raw`);
  assert.equal(given.body, raw);

  const reply = mailText({ headers: { "In-Reply-To": "<one@else.test>", Subject: "Other" } });
  accepted(await handIn(relay.url, { to: [inbox.address], raw: reply, timestamp }), 200);
  const thread = accepted(await holder.ask("GET", `/v1/mail/threads/${row.thread_id}`), 200);
  assert.equal(thread.messages.length, 2);
  assert.equal(thread.message_count, 2);
  assert.equal(thread.unread_count, 2);
  assert.equal(thread.messages[0].text, "Your code is 482913.\n");
  accepted(
    await holder.ask("PATCH", `/v1/mail/threads/${row.thread_id}`, { body: { read: true } }),
    200,
  );
  const read = accepted(await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}`), 200);
  assert.equal(read.unread_count, 0);
  accepted(await holder.ask("DELETE", `/v1/mail/messages/${row.id}`), 204);
  const left = accepted(await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`), 200);
  assert.equal(left.data.length, 1);
});
