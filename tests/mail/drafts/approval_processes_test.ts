/** Approvals at relay processes on one file with a real SMTP server, and over kill -9. */
import assert from "node:assert/strict";
import { decide, LETTER, linkIn, newDraft, sentMessages } from "../../support/draft_world.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { PROGRAM } from "../../support/mail_links.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { delay } from "../../support/pace.ts";
import { type RelayProcesses, startRelayProcesses } from "../../support/relay_processes.ts";
import { parseMail, startSmtpServer, type TestSmtpServer } from "../../support/smtp_server.ts";

const EMAIL = "owner@example.org";

const env = ({ url }: TestSmtpServer) => ({
  RELAY_SMTP_URL: url,
  RELAY_MAIL_FROM: "relay@example.org",
  RELAY_MAIL_DOMAIN: "mail.example.org",
});

/** A verified org with a draft_only inbox. */
async function makeWorld(world: RelayProcesses, smtp: TestSmtpServer) {
  const { url } = world.relays[0]!;
  const body = signRegistration(Date.now());
  const { org_id, api_key } = accepted(
    await askMail(url, "POST", "/v1/mail/agents/register", { body }),
    201,
  );
  const owner = new MailKeyHolder(url, api_key, org_id);
  accepted(await owner.ask("POST", "/v1/mail/org/claim", { body: { email: EMAIL } }), 202);
  const { path } = await linkIn(smtp, "/claim/confirm");
  accepted(await askMail(url, "GET", path, { headers: PROGRAM }), 200);
  return { owner, inbox: await owner.inbox({ send_policy: "draft_only" }) };
}

/** How often a mail with this subject has arrived. */
async function arrived(smtp: TestSmtpServer, subject: string): Promise<number> {
  const mails = await Promise.all(smtp.received.map(parseMail));
  return mails.filter((mail) => mail.subject === subject).length;
}

Deno.test("of 20 approvals at two processes at once one sends, and one mail arrives", async () => {
  await using smtp = await startSmtpServer();
  await using world = await startRelayProcesses(2, { env: env(smtp) });
  const { owner, inbox } = await makeWorld(world, smtp);
  const draft = await newDraft(owner, inbox.id, LETTER);
  const link = await linkIn(smtp, draft.id);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => decide(world.relays[i % 2]!, link, "approve")),
  );
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array(19).fill(410)]);
  assert.equal((await sentMessages(owner, inbox.id)).length, 1);
  while (await arrived(smtp, LETTER.subject) === 0) await delay(10);
  assert.equal(await arrived(smtp, LETTER.subject), 1);
});

Deno.test("after kill -9 while a draft is approved it was sent once, or its link still works", async () => {
  await using smtp = await startSmtpServer();
  await using world = await startRelayProcesses(1, { env: env(smtp) });
  const { owner, inbox } = await makeWorld(world, smtp);
  const outcomes: number[] = [];
  for (const [round, killAfterMs] of [0, 4, 10, 18, 30].entries()) {
    const current = owner.at(world.relays.at(-1)!);
    const subject = `Round ${round}`;
    const draft = await newDraft(current, inbox.id, { ...LETTER, subject });
    const link = await linkIn(smtp, draft.id);
    const answer = decide(current, link, "approve").catch(() => null);
    await delay(killAfterMs);
    await world.relays.at(-1)!.kill("SIGKILL");
    const acknowledged = (await answer)?.status === 200;
    const { relay } = await world.add();
    const next = owner.at(relay);
    const count = async () =>
      (await sentMessages(next, inbox.id)).filter((one) => one.subject === subject).length;
    const before = await count();
    if (acknowledged) assert.equal(before, 1);
    const again = await decide(relay, link, "approve");
    assert.equal(again.status, before === 1 ? 410 : 200, `round ${round}`);
    assert.equal(await count(), 1, `round ${round}`);
    outcomes.push(before);
  }
  assert.equal(outcomes.length, 5);
  for (let round = 0; round < 5; round++) {
    // A process that was killed while it handed the mail over leaves it unknown: never two.
    assert.ok(await arrived(smtp, `Round ${round}`) <= 1);
  }
});
