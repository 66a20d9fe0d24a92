/**
 * A store that does not answer, such as a KV server that is out of reach, or that fails: whichever call of
 * a request it is that stays without an answer, the request is answered 503 within the deadline.
 */
import assert from "node:assert/strict";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { QUEUE_BOUNDS, type QueueBounds } from "../../server/base/storage/commits/job_queue.ts";
import { type Answer, readAnswer } from "../support/answer.ts";
import { newKey } from "../support/custody_key.ts";
import { isLong } from "../support/long_test.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { newSendingOrg } from "../support/sending_org.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { settlesWithin } from "../support/pace.ts";
import { type SilentStore, silentStore } from "../support/silent_store.ts";
import { nameOf, routesToStore, storeRequests } from "../support/store_requests.ts";
import type { FuzzRoute } from "../fuzz/fuzz_routes.ts";

/** As docs/operations.md says, and some for timers that are late: a second of 2 ms feels that. */
const PROMISED_SECONDS = 15 + 3;
/** Work in the background may meet the silence first, and use up the seconds of a request. */
const TRIES = 3;
/** How much shorter a second is here. */
const FASTER = 500;
const ADMIN_TOKEN = "silent-".repeat(8);
/** Calls of one request that are tried, one after the other. */
const MOST_CALLS = isLong ? 12 : 3;
type Fault = (store: SilentStore, calls: number, exclusive: boolean) => void;

const FAULTS: Readonly<Record<string, Fault>> = {
  "is not answered": (store, calls) => store.fallSilentAfter(calls),
  "fails": (store, calls, exclusive) =>
    store.failAfter(
      calls,
      exclusive ? "disk I/O error" : "KV Connect failed to read response body",
    ),
};

Deno.test("GET /health/db leaves no pile of calls to a silent store", async () => {
  using memory = await openMemoryKv();
  const store = silentStore(memory);
  const ticks = new Set<() => void>();
  await using relay = await startMailRelay({
    deps: { kv: store.kv },
    relay: {
      startTicker(tick) {
        ticks.add(tick);
        return () => void ticks.delete(tick);
      },
    },
  });
  store.fallSilentAfter(0);
  const ask = async () => {
    const { status, body } = await fetch(`${relay.url}/health/db`);
    await body?.cancel();
    assert.equal(status, 500);
  };
  const first = ask();
  while (!await settlesWithin(first, 5)) for (const tick of ticks) tick();
  for (let second = 0; second < 10; second++) for (const tick of ticks) tick();
  const before = store.waiting;
  for (let i = 0; i < 10; i++) await ask();
  const more = store.waiting - before;
  store.speak();
  // One may find out whether the store answers again; the relay's own work may be another.
  assert.ok(more <= 2, `${more} of 10 calls wait for an answer`);
});

for (const [fault, begin] of Object.entries(FAULTS)) {
  for (const exclusive of [false, true]) testStore(fault, begin, exclusive);
}

function testStore(fault: string, begin: Fault, exclusive: boolean): void {
  const kind = exclusive ? "exclusive" : "shared";
  Deno.test(`every route answers 503 in time when a call of the ${kind} store ${fault}`, async () => {
    using memory = await openMemoryKv();
    const store = silentStore(memory);
    const ticks = new Set<() => void>();
    const queueBounds: QueueBounds = { ...QUEUE_BOUNDS, refuseAfterMs: 1e9 };
    await using relay = await startMailRelay({
      deps: { kv: store.kv },
      config: {
        sharedStore: !exclusive,
        hosted: !exclusive,
        custodyKeys: [newKey()],
        adminToken: ADMIN_TOKEN,
      },
      limits: { sendsPerAgentPerMinute: 1_000_000, inboxPollIntervalMs: 0 },
      relay: {
        ...(exclusive ? {} : { capacity: KV_CONNECT_CAPACITY }),
        queueBounds,
        startTicker(tick) {
          ticks.add(tick);
          return () => void ticks.delete(tick);
        },
      },
    });
    const requestOf = await storeRequests(relay, await newSendingOrg(relay), ADMIN_TOKEN);
    await relay.relay.crons["outgoing"]!();

    // Commits have a deadline of their own, by the process's clock.
    queueBounds.giveUpAfterMs /= FASTER;
    queueBounds.checkEveryMs /= FASTER;

    async function answerTo(route: FuzzRoute, calls: number): Promise<Answer | undefined> {
      begin(store, calls, exclusive);
      const asked = fetch(requestOf(route)).then(async (response) =>
        readAnswer(response.status, response.headers, await response.text())
      );
      let isAnswered = false;
      void asked.then(() => isAnswered = true);
      await Promise.race([asked, store.reached()]);
      for (let seconds = 0; !isAnswered && seconds < PROMISED_SECONDS; seconds++) {
        for (const tick of ticks) tick();
        await new Promise((resolve) => setTimeout(resolve, 1000 / FASTER));
      }
      try {
        return await settlesWithin(asked, 2_000) ? await asked : undefined;
      } finally {
        store.speak();
        await asked;
        while (ticks.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }

    const routes = routesToStore(relay.relay.app.routes);
    const refused = new Set<string>();
    const wrong: string[] = [];
    for (const route of routes) {
      const name = nameOf(route);
      for (let calls = 0; calls < MOST_CALLS; calls++) {
        let answer: Answer | undefined;
        for (let tries = 0; answer === undefined && tries < TRIES; tries++) {
          answer = await answerTo(route, calls);
        }
        const told = answer === undefined
          ? "no answer"
          : `${answer.status} ${answer.text.slice(0, 120)}`;
        if (answer === undefined || answer.status === 500) {
          wrong.push(`${name}, call ${calls}: ${told}`);
          break;
        }
        if (answer.status !== 503) break;
        if (answer.headers.get("retry-after") === null) break; // off, whatever the store does
        assert.equal(answer.json.error.code, "unavailable", told);
        refused.add(name);
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(refused.size >= (exclusive ? 30 : 55), `${refused.size}: ${[...refused]}`);
  });
}
