/** The commands of docs/mail.md for an agent to read its mail, run as they stand there. */
import assert from "node:assert/strict";
import { examplesOf, runExample } from "../../support/document_examples.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { canRunTours } from "../../support/run_tour.ts";

const MIXED = [
  "--m\r\nContent-Type: text/plain\r\n\r\nYour code is 482913.\r\n",
  '--m\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n%PDF\r\n',
  "--m--\r\n",
].join("");

Deno.test({
  name: "the commands of docs/mail.md read mail, as they stand there (needs bash)",
  ignore: !canRunTours,
  async fn() {
    await using relay = await startMailRelay();
    const holder = await newOrg(relay);
    await holder.inbox({ local_part: "bot" });
    const raw = mailText({
      headers: { "MIME-Version": "1.0", "Content-Type": "multipart/mixed; boundary=m" },
      text: MIXED,
    });
    const timestamp = Math.floor(relay.clock.now() / 1000);
    accepted(await handIn(relay.url, { to: ["bot@agents.test"], raw, timestamp }), 200);
    const { data } = accepted(
      await holder.ask("GET", "/v1/mail/inboxes/bot@agents.test/messages"),
      200,
    );
    const [{ id, thread_id }] = data;
    const folder = await Deno.makeTempDir({ prefix: "relay-examples-" });
    const env = { relay: relay.url, key: holder.key, message: id, thread: thread_id };
    const said = new Map<string, string>();
    try {
      const blocks = await examplesOf("Reading mail");
      assert.equal(blocks.length, 9);
      for (const example of blocks) {
        const [heading] = example;
        said.set(
          heading,
          (said.get(heading) ?? "") + await runExample(example, { cwd: folder, env }),
        );
      }
      assert.equal(await Deno.readTextFile(`${folder}/report.pdf`), "%PDF");
      assert.equal(await Deno.readTextFile(`${folder}/message.eml`), raw);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
    assert.match(said.get("Messages")!, /"extracted_text":"Your code is 482913[^]*"read":true/);
    assert.match(said.get("Waiting for mail")!, /^\{"data":\[\],"next_cursor":"/);
    assert.match(said.get("A live stream")!, /^: from here on\n/);
    assert.match(said.get("Threads")!, /"message_count":1[^]*"messages":\[\{[^]*"unread_count":0/);
    assert.match(said.get("Labels")!, /"labels":\["invoice"\]/);
    assert.match(said.get("Codes and links")!, /"codes":\[\{"value":"482913"/);
  },
});
