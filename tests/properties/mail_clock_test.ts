/** Deliveries of mail over random leaps of the wall clock, restarts and crashes. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Mailer, MailOutcome } from "../../server/base/mailer/mailer.ts";
import { outgoingKey } from "../../server/base/outgoing/outgoing_row.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { settlesWithin } from "../support/pace.ts";
import { propertyRuns } from "../support/property_runs.ts";
import {
  type Bench,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type Process,
  type Sent,
  withDeliveries,
} from "../mail/sending/delivery_bench.ts";

/** An hour less: so much may time that was lived differ from time that has passed. */
const TRIED_MS = 23 * HOUR_MS;

type Hop = "takes" | "puts off" | "is silent before the content" | "is silent after the dot";
type Step =
  | { step: "accept"; recipients: number; laterMs: number | null }
  | { step: "pass"; minutes: number }
  | { step: "leap"; ms: number }
  | { step: "hop"; hop: Hop }
  | { step: "restart" }
  /** A start by a clock that is wrong, which takes a mail and is put off, or dies with it in hand. */
  | { step: "wrong start"; ms: number; hop: Hop }
  | { step: "crash"; hop: Hop };

const hop = fc.constantFrom<Hop>(
  "takes",
  "puts off",
  "is silent before the content",
  "is silent after the dot",
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    step: fc.constant("accept" as const),
    recipients: fc.integer({ min: 1, max: 3 }),
    laterMs: fc.constantFrom(null, null, null, HOUR_MS, 3 * DAY_MS),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("pass" as const),
      minutes: fc.constantFrom(0, 1, 2, 5, 12, 90, 600),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constant("leap" as const),
      ms: fc.constantFrom(
        5_000,
        90_000,
        HOUR_MS,
        9 * HOUR_MS,
        20 * HOUR_MS,
        2 * DAY_MS,
        40 * DAY_MS,
      ).chain((ms) => fc.constantFrom(ms, -ms)),
    }),
  },
  fc.record({ step: fc.constant("hop" as const), hop }),
  fc.record({ step: fc.constant("restart" as const) }),
  fc.record({
    step: fc.constant("wrong start" as const),
    ms: fc.constantFrom(20 * HOUR_MS, 40 * DAY_MS, -20 * HOUR_MS),
    hop: fc.constantFrom<Hop>("puts off", "is silent before the content"),
  }),
  fc.record({ step: fc.constant("crash" as const), hop }),
);

const reply = (code: number) => ({ code, enhancedCode: null, text: "" });
const PUT_OFF: MailOutcome = {
  result: "refused",
  stage: "recipient",
  permanent: false,
  reason: "451 at RCPT",
  reply: reply(451),
  isReached: true,
};

/** One relay after the other, or two at a time, before a next hop that changes. */
class World {
  readonly handedOver = new Map<string, number>();
  readonly sent: { sent: Sent; to: string[]; sendAtMs: number | null }[] = [];
  readonly #trueOffsetMs: number;
  #hop: Hop = "takes";
  #relays: { process: Process; die: () => void }[] = [];
  #count = 0;
  /** Attempts that hear nothing. */
  #silent = 0;

  constructor(readonly bench: Bench, readonly exclusive: boolean) {
    this.#trueOffsetMs = bench.clock.now() - bench.clock.elapsed();
  }

  async start(): Promise<void> {
    const wanted = this.exclusive ? 1 : 2;
    while (this.#relays.length < wanted) this.#relays.push(await this.#open());
    await this.#look();
  }

  async #open() {
    let isDead = false;
    const kv = createFakeKv({
      kv: this.bench.kv,
      maxChecks: 100,
      intercept: (_commit, run) => isDead ? Promise.reject(new Error("it has died")) : run(),
    });
    const mailer: Mailer = {
      send: async ({ to }, { beforeContent, signal }) => {
        const hop = this.#hop;
        if (hop === "puts off") return PUT_OFF;
        if (hop === "is silent before the content") return await this.#silence(signal);
        await beforeContent();
        if (isDead) return await new Promise(() => {});
        this.handedOver.set(to, (this.handedOver.get(to) ?? 0) + 1);
        if (hop === "is silent after the dot") return await this.#silence(signal);
        return { result: "sent", reason: "250 at DATA", reply: reply(250) };
      },
      close: () => Promise.resolve(),
    };
    const process = await this.bench.open({ exclusive: this.exclusive, mailer, kv });
    await process.outgoing.start();
    return { process, die: () => isDead = true };
  }

  async #silence(signal: AbortSignal): Promise<MailOutcome> {
    this.#silent++;
    try {
      return await silence(signal);
    } finally {
      this.#silent--;
    }
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) await this.#make(one);
  }

  async #make(one: Step): Promise<void> {
    const { bench } = this;
    switch (one.step) {
      case "accept":
        return await this.#accept(one);
      case "leap":
        bench.clock.leap(one.ms);
        return await this.#look();
      case "hop":
        this.#hop = one.hop;
        return;
      case "pass":
        // What runs is renewed in real time, which the test does not wait for.
        await this.#look();
        return await this.pass(one.minutes * MINUTE_MS);
      case "restart":
        await Promise.all(
          this.#relays.splice(0).map(({ process, die }) =>
            process.outgoing.close(this.#silent > 0 ? 50 : 500).then(die)
          ),
        );
        return await this.start();
      case "wrong start": {
        bench.clock.leap(one.ms);
        await this.#make({ step: "restart" });
        this.#hop = one.hop;
        await this.#make({ step: "accept", recipients: 1, laterMs: null });
        await this.#make({ step: "crash", hop: one.hop });
        return bench.clock.leap(-one.ms);
      }
      case "crash":
        this.#hop = one.hop;
        await this.#look();
        this.#relays.pop()!.die();
        return await this.start();
    }
  }

  async #accept({ recipients, laterMs }: Step & { step: "accept" }): Promise<void> {
    const { bench } = this;
    const { process } = this.#relays[0]!;
    if (!process.store.clock.isSure) return;
    const to = Array.from({ length: recipients }, () => `reader${this.#count++}@example.org`);
    const sendAtMs = laterMs === null ? null : bench.clock.now() + laterMs;
    this.sent.push({ sent: await bench.accept(process, to, { sendAtMs }), to, sendAtMs });
  }

  /** What is due is begun; what the next hop is silent to stays under way. */
  async #look(): Promise<void> {
    const runs = Promise.all(this.#relays.map(({ process }) => process.outgoing.run()));
    const mayHang = this.#silent > 0 || this.#hop.startsWith("is");
    await (mayHang ? settlesWithin(runs, 15) : runs);
  }

  async pass(
    ms: number,
    stepMs = ms > 2 * HOUR_MS ? 20 * MINUTE_MS : 5 * MINUTE_MS,
  ): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      this.bench.clock.advance(Math.min(stepMs, ms - passedMs));
      await this.#look();
    }
  }

  /** The clock is right from now on, and the next hop is well, or puts off all. */
  async end(hop: Hop): Promise<void> {
    const { bench } = this;
    this.#hop = hop;
    // In whole ms, as a wall clock is set.
    bench.clock.leap(Math.round(this.#trueOffsetMs - (bench.clock.now() - bench.clock.elapsed())));
    await this.#make({ step: "restart" });
  }

  async statuses(): Promise<string[]> {
    const rows = await Promise.all(this.sent.map(({ sent }) => this.bench.message(sent)));
    return rows.flatMap(({ recipients }) =>
      recipients.map(({ address, status, reason }) => `${address} ${status} ${reason}`)
    );
  }

  /** Rows that are left, without those whose time is still to come for their sender. */
  async left(): Promise<string[]> {
    const left: string[] = [];
    for (const { sent, to, sendAtMs } of this.sent) {
      if (sendAtMs !== null && sendAtMs > this.bench.clock.now() - 2 * DAY_MS) continue;
      for (const i of to.keys()) {
        const { value } = await this.bench.kv.get(outgoingKey(`mail/${sent.id}/${i}`));
        if (value !== null) left.push(JSON.stringify(value));
      }
    }
    return left;
  }
}

function silence(signal: AbortSignal): Promise<MailOutcome> {
  const lost: MailOutcome = { result: "unknown", reason: "no reply" };
  if (signal.aborted) return Promise.resolve(lost);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(lost), { once: true });
  });
}

for (const exclusive of [true, false]) {
  for (const hop of ["takes", "puts off"] as const) {
    Deno.test(`each mail is handed over at most once and comes to its end, whatever the clock does (exclusive: ${exclusive}, the next hop ${hop})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
          await withDeliveries(async (bench) => {
            const world = new World(bench, exclusive);
            await world.start();
            await world.run([{ step: "accept", recipients: 2, laterMs: null }, ...steps]);
            const ranMs = bench.clock.elapsed();
            await world.end(hop);
            // Leases end, what was put off is brought back, and the longest wait passes.
            const longestMs = hop === "takes" ? 10 * HOUR_MS : 36 * HOUR_MS;
            await world.pass(longestMs, 10 * MINUTE_MS);
            assert.deepEqual(await world.left(), []);
            for (const [address, times] of world.handedOver) assert.equal(times, 1, address);
            const mayBeUnknown = steps.some((one) =>
              one.step === "crash" || one.step === "wrong start" ||
              one.step === "hop" && one.hop === "is silent after the dot"
            );
            for (const told of await world.statuses()) {
              const address = told.split(" ")[0]!;
              if (/ sent /.test(told)) assert.equal(world.handedOver.get(address), 1, told);
              if (/ failed unknown/.test(told)) assert.ok(mayBeUnknown, told);
              if (/ failed expired/.test(told)) assert.ok(hop === "puts off" || ranMs >= TRIED_MS);
            }
          });
        }),
        propertyRuns(12),
      );
    });
  }
}
