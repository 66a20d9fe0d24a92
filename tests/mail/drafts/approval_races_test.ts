/** Decisions on one draft that meet each other, at one relay and at two on one store. */
import assert from "node:assert/strict";
import { verifyOrg } from "../../support/mail_store.ts";
import {
  approvalMails,
  decide,
  LETTER,
  makeDraftWorld,
  newDraft,
  sentMessages,
} from "../../support/draft_world.ts";
import { accepted, MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import type { LinkMail } from "../../support/mail_links.ts";
import { type MailPair, type MailPairOptions, startMailPair } from "../../support/mail_pair.ts";

const PLACES: Record<string, MailPairOptions> = {
  "two relays": {},
  "one relay alone": { alone: true },
};

interface PairWorld {
  owner: MailKeyHolder;
  agent: MailKeyHolder;
  inboxId: string;
}

/** The org is claimed at the first relay; keys work at both. */
async function makeWorld({ relays: [relay] }: MailPair): Promise<PairWorld> {
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  return { owner, agent, inboxId: inbox.id };
}

/** Each relay keeps the mails that it sent itself. */
async function askedBy({ relays }: MailPair, draftId: string): Promise<LinkMail> {
  for (const relay of new Set(relays)) {
    const mail = (await approvalMails(relay)).find(({ path }) => path.includes(draftId));
    if (mail !== undefined) return mail;
  }
  throw new Error("nobody was asked");
}

async function draftsLeft({ kv }: MailPair): Promise<number> {
  return (await Array.fromAsync(kv.list({ prefix: ["mail-draft"] }))).length;
}

for (const [place, options] of Object.entries(PLACES)) {
  Deno.test(`of ten approvals of one draft at once one sends, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const { owner, agent, inboxId } = await makeWorld(pair);
    const draft = await newDraft(agent, inboxId, LETTER);
    const mail = await askedBy(pair, draft.id);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => decide(pair.relays[i % 2]!, mail, "approve")),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(9).fill(410)]);
    assert.equal((await sentMessages(owner, inboxId)).length, 1);
    assert.equal(await draftsLeft(pair), 0);
  });

  Deno.test(`approval, rejection, sending and change of one draft at once: one happens to it, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const { owner, agent, inboxId } = await makeWorld(pair);
    const [one, two] = pair.relays;
    const outcomes: string[] = [];
    for (let round = 0; round < 6; round++) {
      const before = (await sentMessages(owner, inboxId)).length;
      const draft = await newDraft(agent, inboxId, { ...LETTER, text: "seen" });
      const mail = await askedBy(pair, draft.id);
      const path = `/v1/mail/drafts/${draft.id}`;
      const acts = [
        () => decide(one, mail, "approve"),
        () => decide(two, mail, "reject"),
        () => owner.at(two).ask("POST", `${path}/send`, { body: { revision: 1 } }),
        () => agent.at(one).ask("PATCH", path, { body: { text: "changed" } }),
      ];
      const turned = [...acts.slice(round % 4), ...acts.slice(0, round % 4)];
      const answers = await Promise.all(turned.map((act) => act()));
      const [approved, rejected, sent, changed] = acts.map((act) => answers[turned.indexOf(act)]!);
      const ended = [approved!.status === 200, rejected!.status === 200, sent!.status === 202];
      const told = answers.map(({ status }) => status).join(" ");
      assert.ok(ended.filter((one) => one).length <= 1, told);
      const messages = (await sentMessages(owner, inboxId)).slice(before);
      assert.equal(messages.length, ended[0] || ended[2] ? 1 : 0, told);
      for (const { preview } of messages) assert.equal(preview, "seen");
      if (changed!.status === 200) assert.deepEqual(ended, [false, false, false], told);
      assert.equal(await draftsLeft(pair), changed!.status === 200 ? 1 : 0, told);
      outcomes.push(told);
      if (changed!.status === 200) accepted(await agent.ask("DELETE", path), 204);
    }
    assert.equal(outcomes.length, 6);
  });
}

Deno.test("an approval whose commit the network denies, loses or repeats sends once or not at all", async () => {
  const faults = { deniedSuccess: 0.15, lostAnswer: 0.15, locked: 0.1, repeated: 0.2 };
  await using pair = await startMailPair({ fake: { faults, delayMs: 2 } });
  const owner = await newOrg(pair.relays[0]);
  await verifyOrg(pair.kv, owner.orgId, pair.clock.now());
  const inbox = await owner.inbox({ send_policy: "draft_only" });
  const { api_key } = await owner.newKey({ name: "agent", scope: "inbox", inbox_id: inbox.id });
  const agent = owner.with(api_key);
  let sent = 0;
  for (let round = 0; round < 8; round++) {
    const { status, body: draft } = await agent.ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, {
      body: { ...LETTER, client_id: `c${round}` },
    });
    if (status !== 201) continue;
    const mail = await askedBy(pair, draft.id);
    for (let tries = 0; tries < 20; tries++) {
      const answer = await decide(pair.relays[tries % 2]!, mail, "approve");
      assert.ok([200, 410, 503].includes(answer.status), `${answer.status} ${answer.body}`);
      if (answer.status !== 503) break;
    }
    sent++;
    const messages = await Array.fromAsync(pair.kv.list({ prefix: ["mail-message", owner.orgId] }));
    assert.equal(messages.length, sent);
    assert.equal(await draftsLeft(pair), 0);
  }
  assert.ok(sent >= 4, `${sent} were sent`);
});
