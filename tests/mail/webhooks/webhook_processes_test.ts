/** Two processes on one store that takes ten checks a commit, and fails as such stores do. */
import assert from "node:assert/strict";
import { attemptKey, type AttemptRow } from "../../../server/mail/records/webhook_record.ts";
import { startMailPair } from "../../support/mail_pair.ts";
import { NO_FAULTS } from "../../support/fake_kv.ts";
import { newSendingOrg } from "../../support/sending_org.ts";
import {
  newWebhook,
  receiveOne,
  recordOf,
  settle,
  startReceiver,
  verify,
  waiting,
  type WebhookWorld,
} from "../../support/webhook_world.ts";

const MAILS = 12;
const WEBHOOKS = 5;

for (
  const [told, faults] of Object.entries({
    "without faults": NO_FAULTS,
    "with answers that are lost, denied and repeated": {
      deniedSuccess: 0.1,
      lostAnswer: 0.1,
      locked: 0.1,
      repeated: 0.1,
    },
  })
) {
  Deno.test(`two processes deliver each event to each webhook, and count it once, ${told}`, async () => {
    await using pair = await startMailPair();
    const [first, second] = pair.relays;
    await using receiver = startReceiver(pair.clock);
    const owner = await newSendingOrg(first);
    const world: WebhookWorld = {
      relay: first,
      owner,
      receiver,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    // The store itself, without its faults.
    const inStore = { relay: { ...first, deps: { ...first.deps, kv: pair.kv } }, owner };
    const waitingOf = () => waiting(inStore);
    const other: WebhookWorld = { ...world, relay: second, owner: owner.at(second) };
    other.inbox = world.inbox = await owner.inbox();
    const made = [];
    for (let i = 0; i < WEBHOOKS; i++) {
      made.push(await newWebhook(world, { url: `${receiver.url}/${i}` }));
    }
    for (const fake of pair.fakes) Object.assign(fake.faults, faults);
    // The first request of each webhook fails, and is made again by either.
    const failed = new Set<string>();
    receiver.answer = ({ path }) => {
      const isFirst = !failed.has(path);
      failed.add(path);
      return new Response(null, { status: isFirst ? 500 : 200 });
    };
    for (let i = 0; i < MAILS; i++) {
      const here = i % 2 === 0 ? world : other;
      for (;;) {
        const received = world.received ?? 0;
        try {
          await receiveOne(here);
          break;
        } catch { // refused as the store was: the sender tries again
          here.received = received;
          pair.clock.advance(1_000);
        }
      }
      world.received = other.received = here.received;
    }
    for (let rounds = 0; rounds < 200 && (await waitingOf()).length > 0; rounds++) {
      pair.clock.advance(6_000);
      await Promise.all([settle(world), settle(other)]);
    }
    assert.deepEqual(await waitingOf(), []);
    for (const [fault, share] of Object.entries(faults)) {
      const count = (name: string) =>
        pair.fakes.reduce((sum, { faultCounts }) => sum + faultCounts[name as "locked"], 0);
      assert.equal(count(fault) > 0, share > 0, fault);
    }
    for (const { id, url, secret } of made) {
      const path = new URL(url).pathname;
      const taken = receiver.taken.filter((one) => one.path === path);
      for (const one of taken) verify(one, secret);
      const subjects = new Set(taken.map(({ body }) => body.data.message.id));
      assert.equal(subjects.size, MAILS);
      const record = await recordOf(inStore, id);
      assert.deepEqual([record.pending, record.consecutiveFailures], [0, 0]);
      const rows = await Array.fromAsync(
        pair.kv.list<AttemptRow>({ prefix: attemptKey.under(owner.orgId, id) }),
      );
      assert.equal(rows.length, record.sequence);
      const delivered = rows.filter(({ value }) => value.status === 200)
        .map(({ value }) => value.eventId);
      assert.equal(new Set(delivered).size, delivered.length); // each outcome is stored once
      assert.equal(delivered.length, MAILS);
    }
  });
}
