/**
 * Load on a relay whose clock is moved at random: while it runs, while it stands still, across a kill
 * and across a stop. What was acknowledged is held against the store after every move.
 */
import assert from "node:assert/strict";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../server/base/time/time_units.ts";
import { seededRandom } from "../support/fake_kv.ts";
import { delay } from "../support/pace.ts";
import { realTarget } from "../support/traffic.ts";
import { MovedRelay } from "./moved_relay.ts";

export interface CampaignOptions {
  seed: number;
  /** Moves of the clock. */
  moves: number;
  /** Processes on one store. */
  processes: number;
  /** Share of the moves after which the clock stays for longer than the relay's sweeps take to come. */
  stays?: number;
}

export interface CampaignFigures {
  moves: Record<string, number>;
  /** Sends and their repetitions, by their answers; then mail's. */
  answers: Record<string, number>;
  acknowledged: number;
  mail: { sent: number; inbound: number; handedOver: number };
  /** Starts that were refused for a clock far behind, and made again with RELAY_CLOCK_CHECK=off. */
  refusedStarts: number;
  /** Starts with RELAY_CLOCK_CHECK=off because all that was signed was refused, as forgotten. */
  waysOut: number;
  /** The longest time without an accepted send after a move, in ms. */
  longestWaitMs: number;
  tookMs: number;
}

const AGENTS = 4;
const LANES = 5;
/** Sends that must be accepted after a move before the next one is made. */
const SENDS_A_MOVE = 10;
const PATIENCE_MS = 20_000;
/** Mail that a clock put off is looked for each minute. */
const MAIL_PATIENCE_MS = 90_000;
/** Beyond the minute after which a relay sweeps. */
const STAY_MS = 65_000;
/** Beyond the time of agreement, on a busy machine too. */
const WAY_OUT_AFTER_MS = 8_000;

/**
 * Where the clock is moved to, ahead of the machine's. No two of them are 30 days apart: what is older
 * expires, and is deleted by the store itself.
 */
function drawAheadMs(random: () => number): number {
  const sign = random() < 0.5 ? -1 : 1;
  const draws = [
    () => 0,
    () => 0,
    () => sign * random() * MINUTE_MS,
    () => sign * random() * HOUR_MS,
    () => sign * 9 * HOUR_MS,
    () => 27 * HOUR_MS,
    () => 29 * DAY_MS,
  ];
  return Math.round(draws[Math.floor(random() * draws.length)]!());
}

/** How it comes to be moved, by name. */
const MANNERS = {
  running: (moved: MovedRelay, aheadMs: number) => Promise.resolve(moved.clock.moveTo(aheadMs)),
  killed: (moved: MovedRelay, aheadMs: number, index: number) =>
    moved.replace(index, "SIGKILL", aheadMs),
  stopped: (moved: MovedRelay, aheadMs: number, index: number) =>
    moved.replace(index, "SIGTERM", aheadMs),
  frozen: (moved: MovedRelay, aheadMs: number, index: number) => moved.freeze(index, aheadMs, 200),
};

/** Runs a campaign. @throws AssertionError naming the first rule that does not hold, and the seed */
export async function runClockCampaign(
  faketime: string,
  options: CampaignOptions,
): Promise<CampaignFigures> {
  const beganMs = performance.now();
  await using moved = await MovedRelay.start(faketime, {
    processes: options.processes,
    agents: AGENTS,
  });
  const campaign = new Campaign(moved, seededRandom(options.seed), options.stays ?? 0);
  for (let i = 0; i < options.moves; i++) await campaign.move();
  await campaign.end();
  return {
    moves: campaign.moves,
    answers: { ...moved.ledger.answers, ...moved.mail.answers },
    acknowledged: moved.ledger.acknowledged.size,
    mail: moved.mail.accepted,
    refusedStarts: moved.refusedStarts,
    waysOut: campaign.waysOut,
    longestWaitMs: Math.round(campaign.longestWaitMs),
    tookMs: Math.round(performance.now() - beganMs),
  };
}

class Campaign {
  readonly moves: Record<string, number> = {};
  longestWaitMs = 0;
  waysOut = 0;
  #checkedId = 0;
  /** What a client has found wrong. */
  #finding: unknown;

  constructor(
    private readonly moved: MovedRelay,
    private readonly random: () => number,
    private readonly stays: number,
  ) {}

  /** One move of the clock under load, and a check of all that came since the one before. */
  async move(): Promise<void> {
    const { moved, random } = this;
    const names = Object.keys(MANNERS) as (keyof typeof MANNERS)[];
    const manner = names[Math.floor(random() * names.length)]!;
    const aheadMs = drawAheadMs(random);
    this.moves[manner] = (this.moves[manner] ?? 0) + 1;
    let isOver = false;
    const loaded = this.#load(() => isOver);
    try {
      await delay(random() * 200);
      await MANNERS[manner](moved, aheadMs, this.#any(moved.processes.length));
      await this.#accepted();
      await delay(random() < this.stays ? STAY_MS : random() * 200);
    } finally {
      isOver = true;
      await loaded;
    }
    if (this.#finding !== undefined) throw this.#finding;
    const { ledger, mail } = moved;
    await ledger.check(moved.target(), this.#checkedId);
    for (let agent = 0; agent < AGENTS; agent++) {
      await ledger.readOutbox(moved.target(), agent, this.#checkedId);
    }
    this.#checkedId = ledger.lastId;
    await mail.check(moved.owner());
  }

  /** Sets the clock right, and holds everything against the store. */
  async end(): Promise<void> {
    const { moved } = this;
    const { ledger, mail } = moved;
    moved.clock.moveTo(0);
    let isOver = false;
    const loaded = this.#load(() => isOver);
    await this.#accepted().finally(() => isOver = true);
    await loaded;
    await ledger.repeatStillValid(moved.target());
    await ledger.check(moved.target());
    // Each process finds by itself that the clock is right.
    for (const endMs = performance.now() + MAIL_PATIENCE_MS;;) {
      const open = await mail.repeatAll(moved.owner(), moved.clock.seconds());
      if (open === 0) break;
      assert.ok(
        performance.now() < endMs,
        `${open} mails are not accepted although the clock is right`,
      );
      await delay(500);
    }
    for (
      const endMs = performance.now() + MAIL_PATIENCE_MS;
      await mail.waiting(moved.owner()) > 0;
    ) {
      assert.ok(performance.now() < endMs, "mail waits although clock and next hop are right");
      await delay(100);
    }
    await mail.check(moved.owner());
  }

  /**
   * Waits until sends are accepted again. Where a sweep has forgotten what was signed for later than the
   * clock says now, it takes the way out that start-up names, after which repetitions may count again.
   */
  async #accepted(): Promise<void> {
    const { moved } = this;
    const { acknowledged } = moved.ledger;
    let lastMs = performance.now();
    let mayLeave = this.stays > 0;
    let known = acknowledged.size;
    const wanted = known + SENDS_A_MOVE;
    while (acknowledged.size < wanted) {
      if (this.#finding !== undefined) throw this.#finding;
      // A send that was under way, or taken by a process that learned the floor later, ends no wait for good.
      if (acknowledged.size > known) lastMs = performance.now();
      known = acknowledged.size;
      const waitedMs = performance.now() - lastMs;
      this.longestWaitMs = Math.max(this.longestWaitMs, waitedMs);
      if (mayLeave && waitedMs > WAY_OUT_AFTER_MS) {
        mayLeave = false;
        this.waysOut++;
        moved.ledger.endRepetitions();
        await moved.restart(moved.clock.aheadMs, { RELAY_CLOCK_CHECK: "off" });
        moved.ledger.refusal = ""; // what follows is of the relay without the check
        lastMs = performance.now();
      }
      assert.ok(waitedMs < PATIENCE_MS, `no sends are accepted any more: ${moved.ledger.refusal}`);
      await delay(5);
    }
  }

  /** Clients that send, repeat, poll and look at outboxes, and mail in and out, until told to stop. */
  async #load(isOver: () => boolean): Promise<void> {
    const { random } = this;
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      while (!isOver()) {
        try {
          await (lane === 0 ? this.#mail() : this.#message());
          await delay(random() * (lane === 0 ? 20 : 5));
        } catch (error) {
          // A connection that broke with its process; anything else is a finding.
          const isBroken = error instanceof TypeError || error instanceof Deno.errors.Http;
          if (!isBroken) this.#finding ??= error;
          await delay(5);
        }
      }
    });
    await Promise.all(lanes);
  }

  async #message(): Promise<void> {
    const { random, moved: { ledger } } = this;
    const target = this.moved.target(this.#process());
    const what = random();
    // Some clients have the right time, whatever the relay's clock says.
    if (what < 0.1) await ledger.send(realTarget(target.url), this.#agent(), this.#agent());
    else if (what < 0.5) await ledger.send(target, this.#agent(), this.#agent());
    else if (what < 0.7) await ledger.repeatAcknowledged(target, random());
    else if (what < 0.9) await ledger.poll(target, this.#agent());
    else await ledger.readOutbox(target, this.#agent(), this.#checkedId);
  }

  async #mail(): Promise<void> {
    const { random, moved: { mail, clock } } = this;
    const process = this.#process();
    const owner = this.moved.owner(process);
    const what = random();
    if (what < 0.2) await mail.send(owner);
    else if (what < 0.4) await mail.handIn(owner.url, clock.seconds());
    else if (what < 0.6) await mail.repeatSend(owner, random());
    else {
      const id = what < 0.8 ? undefined : `again_${random()}`;
      await mail.repeatHandIn(owner.url, clock.seconds(), random(), id);
    }
  }

  #any(count: number): number {
    return Math.floor(this.random() * count);
  }

  #agent(): number {
    return this.#any(AGENTS);
  }

  #process(): number {
    return this.#any(this.moved.processes.length);
  }
}
