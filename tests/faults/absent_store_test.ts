/**
 * A KV server that is away for 20 s under traffic: who asks is answered 503 within 15 s, nothing that was
 * acknowledged is lost, nothing is doubled by what is repeated, and all goes on afterwards.
 */
import assert from "node:assert/strict";
import { QUEUE_BOUNDS, type QueueBounds } from "../../server/base/storage/commits/job_queue.ts";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { newKey } from "../support/custody_key.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { deliver, listAllMessages, newSendingOrg, send, takenFor } from "../support/sending_org.ts";
import { type SilentStore, silentStore } from "../support/silent_store.ts";
import { registerAgents, toBytes } from "../support/test_agent.ts";
import { TRAFFIC_LIMITS } from "../support/traffic.ts";

const AWAY_SECONDS = 20;
/** As docs/operations.md says, and some for timers that are late: a second of 50 ms feels that. */
const PROMISED_SECONDS = 15 + 3;
const FASTER = 20;
const SENDERS = 6;
const SENDS_EACH = 12;
const SINK = "ann@example.org";

type End = (store: SilentStore) => { back: () => void };

/** What becomes of commits that are under way, or come, while the server is away. */
const ENDS: Readonly<Record<string, End>> = {
  "it makes them when it is back": (store) => {
    store.fallSilentAfter(0);
    return { back: () => store.speak() };
  },
  "they are lost": (store) => {
    store.fallSilentAfter(0);
    return { back: () => store.failCommits() };
  },
  "it had made them, and is asked again": (store) => {
    store.fallSilentHavingStored();
    return { back: () => store.speak() };
  },
};

for (const [end, leave] of Object.entries(ENDS)) {
  Deno.test(`a KV server that is away for 20 s loses and doubles nothing (its commits: ${end})`, async () => {
    using memory = await openMemoryKv();
    const store = silentStore(createFakeKv({ kv: memory }));
    const ticks = new Set<() => void>();
    const queueBounds: QueueBounds = { ...QUEUE_BOUNDS };
    await using relay = await startMailRelay({
      deps: { kv: store.kv },
      config: { sharedStore: true, hosted: true, custodyKeys: [newKey()] },
      limits: TRAFFIC_LIMITS,
      relay: {
        capacity: KV_CONNECT_CAPACITY,
        queueBounds,
        startTicker(tick) {
          ticks.add(tick);
          return () => void ticks.delete(tick);
        },
      },
    });
    const names = Array.from({ length: SENDERS }, (_, i) => `sender_${i}`);
    const senders = await registerAgents(relay, ...names);
    const [reader] = await registerAgents(relay, "reader");
    const org = await newSendingOrg(relay);
    const inbox = await org.inbox();
    for (const bound of ["refuseAfterMs", "giveUpAfterMs", "checkEveryMs"] as const) {
      queueBounds[bound] /= FASTER;
    }

    let seconds = 0;
    async function second(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 1000 / FASTER));
      seconds++;
      relay.clock.advance(1000);
      for (const tick of ticks) tick();
    }
    const refusals: number[] = [];
    /** The same request until it is accepted. */
    async function untilAccepted<T extends { status: number; headers: Headers }>(
      ask: () => Promise<T>,
      accepted: number,
    ): Promise<T> {
      for (let tries = 0; tries < 100; tries++) {
        const beganAt = seconds;
        const answer = await ask();
        if (answer.status === accepted) return answer;
        // What was refused may hold its Idempotency-Key until the store is back.
        if (answer.status !== 409) {
          assert.equal(answer.status, 503, JSON.stringify(answer));
          assert.ok(answer.headers.get("retry-after") !== null);
          refusals.push(seconds - beganAt);
        }
        await new Promise((resolve) => setTimeout(resolve, 1000 / FASTER));
      }
      throw new Error("it is refused for ever");
    }

    const acknowledged = new Map<number, string>();
    const traffic = senders.map(async (sender, who) => {
      for (let n = 0; n < SENDS_EACH; n++) {
        const text = `${who}/${n}`;
        const body = toBytes({ to: "reader", body: text });
        const timestamp = relay.clock.seconds();
        const options = { body, timestamp };
        const { json } = await untilAccepted(
          () => sender.call("POST", "/v1/messages", options),
          201,
        );
        acknowledged.set(json.id, text);
      }
    });
    const mail = async (n: number): Promise<string> => {
      const key = { "Idempotency-Key": `mail ${n}` };
      const sent = { to: SINK, subject: `mail ${n}`, text: "long ".repeat(40_000) };
      const { body } = await untilAccepted(() => send(org, inbox, sent, key), 202);
      return body.id;
    };
    const mails = [mail(0), mail(1)];
    while (acknowledged.size < SENDERS) await new Promise((resolve) => setTimeout(resolve, 1));
    const { back } = leave(store);
    await store.reached();
    mails.push(mail(2), mail(3));
    const sweeps = deliver(relay).catch(() => {});
    const before = acknowledged.size;
    for (let away = 0; away < AWAY_SECONDS; away++) await second();
    // One answer that was on its way may have come.
    assert.ok(acknowledged.size <= before + SENDERS, `${before}, then ${acknowledged.size}`);
    back();
    let isOver = false;
    const all = Promise.all([...traffic, ...mails, sweeps]).finally(() => isOver = true);
    for (let more = 0; !isOver && more < 60; more++) await second();
    await all;

    assert.ok(refusals.length >= SENDERS, `${refusals.length} were refused`);
    assert.ok(Math.max(...refusals) <= PROMISED_SECONDS, `waited ${Math.max(...refusals)} s`);
    const found = new Map<number, string>();
    for (let since = 0;;) {
      const messages = await reader.inbox(`since_id=${since}&limit=100`);
      if (messages.length === 0) break;
      for (const { id, body } of messages) {
        assert.ok(!found.has(id), `${id} is there twice`);
        found.set(id, body);
      }
      since = messages.at(-1).id;
    }
    assert.equal(acknowledged.size, SENDERS * SENDS_EACH);
    assert.deepEqual([...found].sort(byId), [...acknowledged].sort(byId));

    const ids = await Promise.all(mails);
    const stored = await listAllMessages(org, inbox);
    assert.deepEqual(stored.map(({ id }) => id).sort(), [...ids].sort());
    const taken = async () => (await takenFor(relay, SINK)).map(({ subject }) => subject).sort();
    for (let tries = 0; tries < 200 && (await taken()).length < mails.length; tries++) {
      relay.clock.advance(1000);
      await deliver(relay);
    }
    await deliver(relay);
    assert.deepEqual(await taken(), mails.map((_, n) => `mail ${n}`));
  });
}

function byId([a]: [number, string], [b]: [number, string]): number {
  return a - b;
}
