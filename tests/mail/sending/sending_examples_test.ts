/** The commands of docs/mail.md for an agent to send mail, run as they stand there. */
import assert from "node:assert/strict";
import { examplesOf, runExample } from "../../support/document_examples.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { claimLink, follow } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { canRunTours } from "../../support/run_tour.ts";

const INBOX = "/v1/mail/inboxes/bot@agents.test";

Deno.test({
  name: "the commands of docs/mail.md send mail, as they stand there (needs bash)",
  ignore: !canRunTours,
  async fn() {
    await using relay = await startMailRelay();
    const holder = await newOrg(relay);
    accepted(await follow(relay, await claimLink(relay, holder.key, "owner@example.org")), 200);
    await holder.inbox({ local_part: "bot" });
    const timestamp = Math.floor(relay.clock.now() / 1000);
    const raw = mailText({
      headers: { To: "bot@agents.test", Subject: "Lunch?", Cc: "kim@example.net" },
    });
    accepted(await handIn(relay.url, { to: ["bot@agents.test"], raw, timestamp }), 200);
    const { data: [{ id: message }] } = accepted(
      await holder.ask("GET", `${INBOX}/messages`),
      200,
    );
    const hello = { to: "gone@bounce.test", text: "Hello" };
    const sent = accepted(await holder.ask("POST", `${INBOX}/messages/send`, { body: hello }), 202);
    await relay.relay.crons["outgoing"]!();

    const folder = await Deno.makeTempDir({ prefix: "relay-examples-" });
    const env = { relay: relay.url, key: holder.key, message, sent: sent.id };
    const said: string[] = [];
    try {
      const blocks = await examplesOf("Sending mail");
      assert.deepEqual(blocks.map(([heading]) => heading), [
        "A message",
        "Answers and forwards",
        "Sending once",
        "What became of it",
        "Bounces and suppressed addresses",
        "Usage and health",
      ]);
      for (const example of blocks) said.push(await runExample(example, { cwd: folder, env }));
      // Under its key it is not sent again.
      assert.equal(await runExample(blocks[2]!, { cwd: folder, env }), said[2]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
    const [first, answers, once, became, suppressed, figures] = said;
    const { recipients, attachments, subject } = JSON.parse(first!);
    assert.deepEqual(
      [recipients.map(({ address }: { address: string }) => address), attachments[0].filename],
      [["pat@example.org", "kim@example.net"], "7.txt"],
    );
    assert.equal(subject, "Invoice 7");
    assert.match(answers!, /"subject":"Re: Lunch\?"[^]*"subject":"Fwd: Lunch\?"/);
    assert.match(once!, /"subject":"Invoice 8"/);
    assert.match(became!, /"status":"bounced"[^]*"smtp_code":550,"enhanced_code":"5\.1\.1"/);
    assert.match(suppressed!, /"address":"gone@bounce\.test","reason":"hard_bounce"/);
    accepted(await holder.ask("POST", `${INBOX}/messages/send`, { body: hello }), 202);
    assert.match(
      figures!,
      /"messages_sent":\{"used":7,[^]*"bounced":\{"hard":1,[^]*"bucket":"hour"/,
    );
  },
});
