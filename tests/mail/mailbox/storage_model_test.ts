/** Random use of an org: what lies on the disk is counted at every moment, and after a sweep nothing else is. */
import assert from "node:assert/strict";
import { blobFilesIn } from "../../support/blob_rig.ts";
import { seededRandom } from "../../support/fake_kv.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { isLong } from "../../support/long_test.ts";
import { auditStorage, storedAnswers } from "../../support/mailbox_audit.ts";
import { accepted, type MailKeyHolder } from "../../support/mail_caller.ts";
import { type MailPairOptions, startMailPair } from "../../support/mail_pair.ts";
import type { MailAnswer } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { newSendingOrg, send } from "../../support/sending_org.ts";

const MINUTE_MS = 60_000;
const STEPS = 80;
const SEEDS = isLong ? [1, 2] : [1];
const LIMITS = {
  mailSendsPerInboxPerHour: 10_000,
  mailRecipientsPerOrgFirstDay: 10_000,
  mailInboxesPerOrg: 100,
};
const KINDS: readonly [name: string, options: MailPairOptions][] = [
  ["one process", { alone: true }],
  ["two processes", {}],
  ["two processes, with faults", {
    fake: { faults: { deniedSuccess: 0.03, lostAnswer: 0.03, locked: 0.05, repeated: 0.03 } },
  }],
];

async function diskBytes({ deps }: TestRelay): Promise<number> {
  let bytes = 0;
  for (const path of await blobFilesIn(deps.config.dataDir)) bytes += (await Deno.stat(path)).size;
  return bytes;
}

/** What an org counts, and how much of it are answers in rows of the store. */
async function counted(kv: Deno.Kv, orgId: string): Promise<{ bytes: number; rowBytes: number }> {
  const { value } = await kv.get<{ bytes: number }>(["mail-storage", orgId, "bytes"]);
  const answers = await storedAnswers(kv);
  return {
    bytes: value?.bytes ?? 0,
    rowBytes: answers.reduce((sum, one) => sum + one.rowBytes, 0),
  };
}

/** What faults refuse is asked again, as any client does. */
async function patiently(ask: () => Promise<MailAnswer>): Promise<MailAnswer> {
  for (let tries = 0;; tries++) {
    const answer = await ask();
    if (answer.status !== 503 || tries > 20) return answer;
  }
}

for (const [name, options] of KINDS) {
  Deno.test(`bytes on the disk are bytes that count, through random use of an org (${name})`, async () => {
    const hasFaults = options.fake !== undefined;
    assert.ok(SEEDS.length > 0);
    for (const seed of SEEDS) {
      await using pair = await startMailPair({ limits: LIMITS, ...options });
      const { relays, kv, clock } = pair;
      const random = seededRandom(seed);
      const below = (most: number) => Math.floor(random() * most);
      const text = () => "x".repeat(1 + below(50_000));
      const owner = await newSendingOrg(relays[0]);
      const at = () => owner.at(relays[below(2)]!);
      const inboxes: { id: string; address: string }[] = [];
      const open = async () => {
        inboxes.push((await patiently(() => owner.createInbox())).body);
      };
      const one = <T>(list: readonly T[]): T | undefined => list[below(list.length)];
      const listed = async (by: MailKeyHolder, what: "messages" | "drafts") => {
        const path = `/v1/mail/inboxes/${one(inboxes)!.id}/${what}`;
        return (await patiently(() => by.ask("GET", path))).body.data as { id: string }[];
      };
      const file = () => ({
        filename: "a",
        content_type: "text/plain",
        content: btoa(text()),
      });
      await open();
      const steps: (() => Promise<unknown>)[] = [
        () => send(at(), one(inboxes)!, { text: text() }),
        () => send(at(), one(inboxes)!, { text: text() }, { "Idempotency-Key": `k${below(1e9)}` }),
        () =>
          at().ask("POST", `/v1/mail/inboxes/${one(inboxes)!.id}/drafts`, {
            body: { text: text(), attachments: [file()] },
          }),
        async () => {
          const by = at();
          const draft = one(await listed(by, "drafts"));
          const body = random() < 0.5 ? { text: text() } : { attachments: [file(), file()] };
          if (draft !== undefined) await by.ask("PATCH", `/v1/mail/drafts/${draft.id}`, { body });
        },
        async () => {
          const by = at();
          const draft = one(await listed(by, "drafts"));
          if (draft !== undefined) await by.ask("DELETE", `/v1/mail/drafts/${draft.id}`);
        },
        async () => {
          const by = at();
          const message = one(await listed(by, "messages"));
          if (message !== undefined) await by.ask("DELETE", `/v1/mail/messages/${message.id}`);
        },
        () =>
          handIn(relays[0].url, {
            to: [one(inboxes)!.address],
            raw: mailText({ text: text() }),
            timestamp: clock.seconds(),
          }),
        async () => {
          if (random() < 0.5) return;
          const [inbox] = inboxes.splice(below(inboxes.length), 1);
          if (inboxes.length === 0) await open();
          await patiently(() => owner.ask("DELETE", `/v1/mail/inboxes/${inbox!.id}`));
        },
        async () => {
          clock.advance(20 * MINUTE_MS);
          await Promise.all(relays.map(({ relay }) => relay.crons["figures"]!()));
        },
      ];
      for (let step = 0; step < STEPS; step++) {
        await steps[below(steps.length)]!();
        if (hasFaults) continue; // what a lost commit leaves on the disk counts by the hour
        const [disk, { bytes }] = [await diskBytes(relays[0]), await counted(kv, owner.orgId)];
        assert.ok(disk <= bytes, `seed ${seed}, step ${step}: ${disk} lie there, ${bytes} count`);
      }
      const before = await counted(kv, owner.orgId);
      assert.ok(before.bytes > 100_000, `${before.bytes}`);
      for (const fake of pair.fakes) {
        Object.assign(fake.faults, { deniedSuccess: 0, lostAnswer: 0, locked: 0, repeated: 0 });
      }
      for (let i = 0; i < 5; i++) {
        clock.advance(60 * MINUTE_MS);
        // An unkept blob is no recent one after some minutes of work.
        for (let minute = 0; minute < 21; minute++) await relays[i % 2]!.relay.crons["figures"]!();
        for (const { relay } of relays) await relay.crons["figures"]!();
      }
      await auditStorage(kv);
      const { bytes, rowBytes } = await counted(kv, owner.orgId);
      assert.equal(await diskBytes(relays[0]), bytes - rowBytes, `seed ${seed}`);
      clock.advance(27 * 60 * MINUTE_MS);
      for (let i = 0; i < 3; i++) {
        for (const { relay } of relays) await relay.crons["figures"]!();
        clock.advance(60 * MINUTE_MS);
      }
      const last = await counted(kv, owner.orgId);
      assert.equal(last.rowBytes, 0);
      assert.equal(await diskBytes(relays[0]), last.bytes, `seed ${seed}`);
      const shown = accepted(await owner.ask("GET", "/v1/mail/usage"), 200).storage_bytes.used;
      assert.equal(shown, last.bytes);
    }
  });
}
