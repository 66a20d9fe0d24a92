/** One process and two over a slow KV server with faults: receiving, reading, marking and deleting at the same time. */
import assert from "node:assert/strict";
import { openStream } from "../../support/event_stream.ts";
import { seededRandom } from "../../support/fake_kv.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { isLong } from "../../support/long_test.ts";
import { auditMailboxes } from "../../support/mailbox_audit.ts";
import { accepted, MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import { type MailPair, type MailPairOptions, startMailPair } from "../../support/mail_pair.ts";
import { verifyOrg } from "../../support/mail_store.ts";
import { propertyRuns } from "../../support/property_runs.ts";
import fc from "../../support/seeded_fast_check.ts";

const LIMITS = { mailInboundPerInboxPerHour: 100_000, mailRegistrationsPerIpPerHour: 1_000 };
const KINDS: readonly [name: string, options: MailPairOptions][] = [
  ["one process", { alone: true }],
  ["two processes", {}],
  ["two processes, slow, with faults", {
    fake: {
      delayMs: 2,
      faults: { deniedSuccess: 0.03, lostAnswer: 0.03, locked: 0.05, repeated: 0.03 },
    },
  }],
];

interface Box {
  holders: readonly [MailKeyHolder, MailKeyHolder];
  address: string;
  path: string;
}

async function openBox(pair: MailPair): Promise<Box> {
  const holder = await patiently(() => newOrg(pair.relays[0]));
  // On an exclusive store memory holds the org: it stays a trial.
  if (pair.relays[0] !== pair.relays[1]) {
    await verifyOrg(pair.kv, holder.orgId, pair.clock.now() - 2 * 86_400_000);
  }
  const inbox = await patiently(() => holder.inbox());
  return {
    holders: [holder, holder.at(pair.relays[1])],
    address: inbox.address,
    path: `/v1/mail/inboxes/${inbox.id}`,
  };
}

/** What faults refuse is asked again, as any client does. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0;; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries > 20) throw error;
    }
  }
}

/** Hands in until it is accepted. */
async function deliver(pair: MailPair, at: number, to: string, raw: string): Promise<void> {
  await patiently(async () => {
    const timestamp = pair.clock.seconds();
    accepted(await handIn(pair.relays[at]!.url, { to: [to], raw, timestamp }), 200);
  });
}

function get(box: Box, at: number, path: string) {
  return patiently(async () => accepted(await box.holders[at]!.ask("GET", path), 200));
}

for (const [name, options] of KINDS) {
  const limits = { ...LIMITS, mailInboundPerTrialInboxPerHour: 100_000 };

  Deno.test(`polls and streams miss nothing and see all in one order (${name})`, async () => {
    await using pair = await startMailPair({ ...options, limits });
    const box = await openBox(pair);
    const count = 40;
    const poll = async (at: number): Promise<string[]> => {
      const seen: string[] = [];
      for (let cursor = ""; seen.length < count;) {
        const path = `${box.path}/messages?order=asc&wait=5&limit=7${cursor}`;
        const page = await get(box, at, path);
        seen.push(...page.data.map(({ id }: { id: string }) => id));
        cursor = `&cursor=${page.next_cursor}`;
      }
      return seen;
    };
    const { next_cursor: start } = await get(box, 0, `${box.path}/messages?order=asc`);
    const stream = async (at: number): Promise<string[]> => {
      const seen: string[] = [];
      for (let last = start; seen.length < count;) {
        const { url, key } = box.holders[at]!;
        await using events = await openStream(`${url}${box.path}/messages?order=asc`, key, {
          "Last-Event-ID": last,
        });
        if (events.status !== 200) continue;
        // A fault of the store ends a stream: its client comes back with the last id.
        for (let event = await events.next(); event !== null; event = await events.next()) {
          seen.push(event.data.id);
          last = event.id!;
          if (seen.length === count) break;
        }
      }
      return seen;
    };
    const readers = [poll(0), poll(1), stream(0), stream(1)];
    await Promise.all(
      Array.from({ length: count }, (_, i) => deliver(pair, i % 2, box.address, mailText())),
    );
    const [first, ...others] = await Promise.all(readers);
    assert.equal(new Set(first).size, count);
    assert.deepEqual(first, first!.toSorted());
    for (const other of others) assert.deepEqual(other, first);
    const messages = await auditMailboxes(pair.kv);
    assert.equal(messages.size, count);
  });

  Deno.test(`a message that is handed to both at once is stored once (${name})`, async () => {
    await using pair = await startMailPair({ ...options, limits });
    const box = await openBox(pair);
    for (let round = 0; round < 8; round++) {
      const raw = mailText();
      await Promise.all([0, 1, 0, 1].map((at) => deliver(pair, at, box.address, raw)));
      assert.equal((await auditMailboxes(pair.kv)).size, round + 1);
    }
  });

  Deno.test(`counts, indexes and storage hold through random changes at one time (${name})`, async () => {
    const what = fc.constantFrom("deliver", "answer", "read", "unread", "label", "delete", "mark");
    const step = fc.array(fc.tuple(what, fc.nat(), fc.nat(1)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        await using pair = await startMailPair({ ...options, limits });
        const box = await openBox(pair);
        await deliver(pair, 0, box.address, mailText());
        for (const operations of steps) {
          const rows = [...(await auditMailboxes(pair.kv)).values()];
          await Promise.all(operations.map(async ([kind, choice, at]) => {
            const row = rows[choice % Math.max(1, rows.length)];
            const holder = box.holders[at]!;
            if (kind === "deliver" || row === undefined) {
              return await deliver(pair, at, box.address, mailText());
            }
            if (kind === "answer") {
              const headers = { "In-Reply-To": `<${row.rfcMessageId}>` };
              return await deliver(pair, at, box.address, mailText({ headers }));
            }
            const path = `/v1/mail/messages/${row.id}`;
            const body = {
              read: { read: true },
              unread: { read: false },
              label: { add_labels: [`l${choice % 3}`], remove_labels: [`l${(choice + 1) % 3}`] },
              mark: { read: choice % 2 === 0 },
              delete: undefined,
            }[kind];
            const answer = kind === "delete"
              ? await holder.ask("DELETE", path)
              : kind === "mark"
              ? await holder.ask("PATCH", `/v1/mail/threads/${row.threadId}`, { body })
              : await holder.ask("PATCH", path, { body });
            assert.ok([200, 204, 404, 503].includes(answer.status), String(answer.status));
          }));
        }
        const messages = await auditMailboxes(pair.kv);
        const inbox = await get(box, 1, box.path);
        const unread = [...messages.values()].filter(({ read }) => !read).length;
        assert.equal(inbox.unread_count, unread);
      }),
      propertyRuns(isLong ? 3 : 1, false),
    );
  });
}

Deno.test("ids ascend in the order of commits in two processes whose clocks differ", async () => {
  await using pair = await startMailPair({ limits: LIMITS });
  const box = await openBox(pair);
  const random = seededRandom(26);
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) {
    // Also backwards: as the other's clock, or a corrected one.
    pair.clock.advance(Math.floor((random() - 0.5) * 20_000));
    await deliver(pair, i % 2, box.address, mailText());
    const { data: [row] } = await get(box, 1, `${box.path}/messages?limit=1`);
    ids.push(row.id);
  }
  assert.equal(new Set(ids).size, 20);
  assert.deepEqual(ids, ids.toSorted());
});
