/** From a request to send to the outcome for each recipient, in local mode. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { claimLink, follow } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";

Deno.test("each recipient of a message comes to its own end, inside and outside, and is counted", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, owner.key, "owner@example.org")), 200);
  const inbox = await owner.inbox({ local_part: "ada" });
  const bob = await owner.inbox({ local_part: "bob" });
  const path = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  const to = ["ann@example.org", "no@bounce.test", "later@defer.test", "who@unknown.test"];
  const inside = [bob.address, `nobody@${bob.address.split("@")[1]}`];
  const sent = accepted(
    await owner.ask("POST", path, { body: { to: [...to, ...inside], subject: "Hi", text: "x" } }),
    202,
  );
  await relay.relay.crons["outgoing"]!();
  const message = accepted(await owner.ask("GET", `/v1/mail/messages/${sent.id}`), 200);
  const told = message.recipients.map((one: Record<string, unknown>) => [
    one["status"],
    one["reason"],
    one["smtp_code"],
    one["enhanced_code"],
  ]);
  assert.deepEqual(told, [
    ["sent", null, 250, null],
    ["bounced", "refused", 550, "5.1.1"],
    ["deferred", null, 451, null],
    ["failed", "unknown", null, null],
    ["sent", null, 250, "2.1.5"],
    ["bounced", "refused", 550, "5.1.1"],
  ]);
  assert.equal(message.status, "deferred");
  const { data } = accepted(await owner.ask("GET", `/v1/mail/inboxes/${bob.id}/messages`), 200);
  assert.equal(data.length, 1);
  assert.deepEqual(data[0].auth, {
    spf: "pass",
    dkim: "none",
    dmarc: "pass",
    arc: "none",
    from_domain: bob.address.split("@")[1],
    verdict: "pass",
  });
  assert.match(data[0].envelope.from, /^bounce\+[0-9a-z]{26}\.04[a-z2-7]{24}@/);
  const health = accepted(await owner.ask("GET", "/v1/mail/delivery-health?period=24h"), 200);
  const { sent: taken, bounced, deferred, failed, pending } = health;
  assert.deepEqual([taken, bounced, deferred, failed, pending], [
    2,
    { hard: 2, soft: 0 },
    1,
    1,
    0,
  ]);
  const usage = accepted(await owner.ask("GET", "/v1/mail/usage"), 200);
  assert.deepEqual([usage.messages_sent.used, usage.messages_received], [6, 1]);
  const again = await owner.ask("POST", path, { body: { to: "no@bounce.test", text: "x" } });
  assertMailRefused(again, "recipient_suppressed");
  accepted(await owner.ask("DELETE", "/v1/mail/suppressions/no@bounce.test"), 204);
  accepted(await owner.ask("POST", path, { body: { to: "no@bounce.test", text: "x" } }), 202);
});
