/** Mails of the relay itself while its wall clock leaps: a delivery under way ends, once. */
import assert from "node:assert/strict";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { LETTER, newDraft } from "../../support/draft_world.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { askForLink } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { verifyOrg } from "../../support/mail_store.ts";
import type { TestRelay } from "../../support/relay.ts";
import { startScriptedSmtp } from "../../support/scripted_smtp.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { setEmail } from "../../messaging/digest/digest_bench.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const PERSON = "person@example.org";

/** What has a mail queued; the cron that delivers it. */
const kinds: Record<string, (relay: TestRelay) => Promise<"outgoing" | "digest">> = {
  async link(relay) {
    const owner = await newOrg(relay);
    await verifyOrg(relay.deps.kv, owner.orgId, relay.clock.now(), PERSON);
    accepted(await askForLink(relay, PERSON), 202);
    return "outgoing";
  },
  async approval(relay) {
    const owner = await newOrg(relay);
    await verifyOrg(relay.deps.kv, owner.orgId, relay.clock.now(), PERSON);
    const inbox = await owner.inbox({ send_policy: "draft_only" });
    await newDraft(owner, inbox.id, LETTER);
    return "outgoing";
  },
  async digest(relay) {
    const bob = await registerAgent(relay, "bob");
    await setEmail(bob, PERSON);
    relay.clock.advance(1_000);
    await bob.sent({ to: "bob", body: "hello" });
    return "digest";
  },
};

for (const [kind, queue] of Object.entries(kinds)) {
  for (const step of ["RCPT", "content"] as const) {
    for (const leapMs of [9 * HOUR_MS, -9 * HOUR_MS]) {
      Deno.test(`a ${kind} that waits at ${step} while the clock leaps by ${leapMs / HOUR_MS} h goes out once`, async () => {
        await using smtp = startScriptedSmtp();
        const mailer = createSmtpMailer({
          smtp: { host: "127.0.0.1", port: smtp.port, secure: false },
          ehloName: "agents.test",
          timing: { quitMs: 50 },
        });
        await using relay = await startMailRelay({
          deps: { mailer },
          config: { sharedStore: true }, // the test writes beside it
        });
        const { crons } = relay.relay;
        smtp.script({ [step]: "silence" });
        const reached = smtp.reached(step);
        const running = crons[await queue(relay)]!();
        await reached;
        relay.clock.leap(leapMs);
        smtp.script({});
        smtp.release("250 ok");
        await running;
        relay.clock.leap(-leapMs);
        for (let minute = 0; minute < 15; minute++) {
          relay.clock.advance(MINUTE_MS);
          await crons.outgoing!();
        }
        assert.equal(smtp.contents.length, 1);
        const left = await Array.fromAsync(relay.deps.kv.list({ prefix: ["outgoing"] }));
        assert.deepEqual(left, []);
        const given = relay.logged.filter(({ event }) => event.startsWith("outgoing_"));
        assert.deepEqual(given, [], "no attempt failed");
        await relay.stop();
        await mailer.close();
      });
    }
  }
}
