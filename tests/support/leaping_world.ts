/** A relay under a clock that leaps, on a store that forgets by that clock, with requests of every kind that a repetition is told from. */
import assert from "node:assert/strict";
import type { Mailer } from "../../server/base/mailer/mailer.ts";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { createExpiringKv, type ExpiringKv } from "./expiring_kv.ts";
import { handIn, mailText } from "./inbound_mail.ts";
import { startMailRelay } from "./mail_relay.ts";
import { openMemoryKv, SAVED_AT_ONCE } from "./read_through.ts";
import type { TestRelay } from "./relay.ts";
import { newSendingOrg, send } from "./sending_org.ts";
import { ToolAgent } from "./tool_client.ts";

/** Kinds of stores, and what a relay on them is opened with. */
export const LEAPING_STORES = {
  "an exclusive store": {},
  "a shared store": { shared: true },
  "a KV server": { shared: true, hosted: true },
} as const;

/** A request that may be repeated. */
export interface Repeatable {
  name: string;
  /** @returns the status, and what identifies the first answer */
  ask(): Promise<{ status: number; told: unknown }>;
}

export interface LeapingWorld extends AsyncDisposable {
  clock: TestClock;
  /** The store itself. */
  kv: Deno.Kv;
  /** The same as stored by the relay. */
  expiring: ExpiringKv;
  relay: TestRelay;
  repeatables: readonly Repeatable[];
  /** The wall clock leaps, and the store forgets by it. */
  leap(ms: number): Promise<void>;
  /** Time passes, with the work of a minute at its end. */
  pass(ms: number): Promise<void>;
  /** @param between what is done to the store meanwhile */
  restart(between?: () => Promise<void>): Promise<void>;
  /** How many of each were taken: messages, mails handed over, mails stored. */
  counts(): Promise<Record<"messages" | "handedOver" | "stored", number>>;
}

export async function startLeapingWorld(
  { shared = false, hosted = false }: { shared?: boolean; hosted?: boolean } = {},
): Promise<LeapingWorld> {
  const clock = createTestClock();
  const kv = await openMemoryKv();
  const expiring = createExpiringKv(kv, clock, hosted ? { maxChecks: 10 } : {});
  const dataDir = await Deno.makeTempDir({ prefix: "relay-leaping-" });
  const taken: string[] = [];
  const mailer: Mailer = {
    async send({ to }, handover) {
      await handover.beforeContent();
      taken.push(to);
      return { result: "sent", reason: "taken", reply: null };
    },
    close: () => Promise.resolve(),
  };
  const start = async (more: { mailer?: Mailer } = {}, clockCheck = true) => {
    // Its monotonic clock starts over, as another process's.
    const zeroMs = clock.elapsed();
    const relay = await startMailRelay({
      config: { dataDir, sharedStore: shared, clockCheck },
      deps: { kv: expiring.kv, now: clock.now, elapsed: () => clock.elapsed() - zeroMs, ...more },
      // What expires is deleted beside the relay.
      relay: hosted ? { capacity: KV_CONNECT_CAPACITY } : { journalBounds: SAVED_AT_ONCE },
    });
    return Object.assign(relay, { clock });
  };
  const first = await start();
  const maker = await newSendingOrg(first);
  const inbox = await maker.inbox({ local_part: "ada" });
  const agent = await ToolAgent.register(first.url, "sender");
  const receiver = await ToolAgent.register(first.url, "receiver");
  await first.stop();

  let deliveries = 0;
  const raw = mailText();
  const inbound = (id?: string) =>
    handIn(world.relay.url, {
      to: [inbox.address],
      raw,
      timestamp: clock.seconds(),
      id: id ?? `delivery_${++deliveries}`,
    });
  const keyedMail = (name: string, mail: { text: string; to?: string }): Repeatable => ({
    name,
    async ask() {
      const { status, body } = await send(maker.at(world.relay), inbox, mail, {
        "Idempotency-Key": name,
      });
      return { status, told: body.id ?? null };
    },
  });
  const handedIn = (name: string, id?: string): Repeatable => ({
    name,
    async ask() {
      const { status, body } = await inbound(id);
      return { status, told: body.accepted ?? null };
    },
  });
  const world: LeapingWorld = {
    clock,
    kv,
    expiring,
    relay: await start({ mailer }),
    repeatables: [
      {
        name: "a send by token under an Idempotency-Key",
        async ask() {
          const { status, json } = await agent.at(world.relay.url).rest(
            "POST",
            "/v1/messages",
            { to: "receiver", body: "hi" },
            { "Idempotency-Key": "one" },
          );
          return { status, told: json.id ?? null };
        },
      },
      keyedMail("a mail under an Idempotency-Key", { text: "Hello." }),
      keyedMail("a large mail under an Idempotency-Key", { text: "x".repeat(50_000) }),
      keyedMail("a mail to the operator under an Idempotency-Key", {
        text: "Help.",
        to: `abuse@${inbox.address.split("@")[1]}`,
      }),
      handedIn("a mail of the gateway under a webhook-id", "the_same"),
      handedIn("the same mail under another webhook-id"),
    ],
    async leap(ms) {
      clock.leap(ms);
      await expiring.expire();
      await (await fetch(`${world.relay.url}/health`)).text();
    },
    async pass(ms) {
      clock.advance(ms);
      await expiring.expire();
      await world.relay.relay.crons["figures"]!();
      // Mail for the operator is taken, and then passed on.
      for (let i = 0; i < 2; i++) await world.relay.relay.crons["outgoing"]!();
    },
    async restart(between = () => Promise.resolve()) {
      await world.relay.stop();
      await between();
      // Where the clock has come back, the store was in use a day later.
      world.relay = await start({ mailer }, false);
    },
    async counts() {
      const listed = await maker.at(world.relay).ask(
        "GET",
        `/v1/mail/inboxes/${inbox.id}/messages?direction=inbound`,
      );
      assert.equal(listed.status, 200);
      const polled = await receiver.at(world.relay.url).rest("GET", "/v1/inbox?peek=true");
      assert.equal(polled.status, 200, polled.text);
      return {
        messages: polled.json.messages.length,
        handedOver: taken.length,
        stored: listed.body.data.length,
      };
    },
    async [Symbol.asyncDispose]() {
      try {
        await world.relay.stop();
      } finally {
        kv.close();
        await Deno.remove(dataDir, { recursive: true });
      }
    },
  };
  return world;
}
