/** The commands of docs/mail.md for an agent to write and a person to send, run as they stand there. */
import assert from "node:assert/strict";
import {
  decide,
  LETTER,
  newDraft,
  newestApproval,
  openPage,
  sentMessages,
} from "../../support/draft_world.ts";
import { examplesOf, runExample } from "../../support/document_examples.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { claimLink, follow } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { canRunTours } from "../../support/run_tour.ts";

Deno.test({
  name: "the commands of docs/mail.md have a person approve a mail (needs bash)",
  ignore: !canRunTours,
  async fn() {
    await using relay = await startMailRelay();
    const owner = await newOrg(relay);
    accepted(await follow(relay, await claimLink(relay, owner.key, "owner@example.org")), 200);
    const examples = await examplesOf("An agent writes, a person sends");
    assert.equal(examples.length, 2);
    const cwd = await Deno.makeTempDir({ prefix: "relay-examples-" });
    try {
      const env = { relay: relay.url, key: owner.key };
      const [write, send] = examples as [typeof examples[0], typeof examples[0]];
      const written = await runExample(write, { cwd, env });
      assert.match(written, /"status":"pending_approval","draft":\{"id":"dft_/);
      const mail = await newestApproval(relay);
      assert.match(accepted(await openPage(relay, mail), 200), /Ten pieces for 120 EUR\./);
      const draft = /\/mail\/drafts\/(dft_[^?]+)/.exec(mail.path)![1]!;
      const said = await runExample(send, { cwd, env: { ...env, draft } });
      assert.match(said, new RegExp(`^\\{"data":\\[\\{"id":"${draft}"[^]*"status":"queued"`));
      accepted(await decide(relay, mail, "approve"), 410);
      // Another one, approved by the link in place of the key.
      await newDraft(owner, "desk@agents.test", { ...LETTER, subject: "Offer" });
      accepted(await decide(relay, await newestApproval(relay), "approve"), 200);
      const sent = await sentMessages(owner, "desk@agents.test");
      assert.deepEqual(sent.map(({ subject }) => subject), ["Offer", "Offer"]);
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});
