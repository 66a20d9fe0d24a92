/**
 * Traffic of many agents over one or more relays on one store, and checks of its result. Every
 * acknowledged message must be there once, in order, verifiable, and delivered once.
 */
import assert from "node:assert/strict";
import { verifyMessage } from "../../toolkit/mod.ts";
import type { Answer } from "./answer.ts";
import { seededRandom } from "./fake_kv.ts";
import { delay } from "./pace.ts";
import { registerAgent, type Target, TestAgent } from "./test_agent.ts";

export interface TrafficOptions {
  seed: number;
  agents: number;
  /** Messages that each agent sends. */
  sendsAnAgent: number;
  /** Percentage of messages that go to every relay at once. */
  toAllPercent?: number;
  /** Agents that receive; all unless given. Fewer agents make their mailboxes busy. */
  recipients?: number;
  /** Concurrent sends of one agent. */
  width?: number;
}

export interface TrafficResult {
  /** Statuses of all sends, repetitions included. */
  sendStatuses: Record<number, number>;
  messages: number;
  tookMs: number;
}

/** Limits under which traffic runs as fast as it can. */
export const TRAFFIC_LIMITS = {
  registrationsPerIpPerHour: 100_000,
  sendsPerAgentPerMinute: 1_000_000,
  inboxPollIntervalMs: 0,
  pagesInHandPerAgent: 100,
};

interface Acknowledged {
  id: number;
  from: number;
  to: number;
  text: string;
}

/** Polls with since_id from message to message. */
interface Reader {
  lastId: number;
  // deno-lint-ignore no-explicit-any -- InboxMessages, verified field by field below
  messages: any[];
}

const TRIES = 60;

/** A target that uses the machine's clock. */
export function realTarget(url: string): Target {
  const now = () => Date.now();
  const seconds = () => Math.floor(now() / 1000);
  const stand = () => {};
  const elapsed = () => performance.now();
  return { url, clock: { now, elapsed, seconds, advance: stand, set: stand, leap: stand } };
}

/**
 * Runs the traffic to its end and asserts the rules above.
 * @throws AssertionError naming the first one that does not hold
 */
export async function runTraffic(
  targets: readonly Target[],
  options: TrafficOptions,
): Promise<TrafficResult> {
  const traffic = new Traffic(targets, options);
  return await traffic.run();
}

class Traffic {
  readonly #random: () => number;
  readonly #agents: TestAgent[] = [];
  readonly #readers: Reader[] = [];
  readonly #acknowledged: Acknowledged[] = [];
  readonly #statuses: Record<number, number> = {};
  #sending = true;

  constructor(
    private readonly targets: readonly Target[],
    private readonly options: TrafficOptions,
  ) {
    this.#random = seededRandom(options.seed);
  }

  async run(): Promise<TrafficResult> {
    const { agents, sendsAnAgent, seed, width = 1 } = this.options;
    for (let i = 0; i < agents; i++) {
      const handle = `agent_${seed}_${i}`;
      this.#agents.push(await registerAgent(this.#anyTarget(), handle));
      this.#readers.push({ lastId: 0, messages: [] });
    }
    const beganMs = performance.now();
    const reading = Promise.all(this.#agents.map((_, i) => this.#readWhileSending(i)));
    await Promise.all(this.#agents.map(async (_, i) => {
      let left = sendsAnAgent;
      const sendNext = async () => {
        for (; left > 0;) {
          left--;
          await this.#sendOne(i, left);
        }
      };
      await Promise.all(Array.from({ length: width }, sendNext));
    }));
    this.#sending = false;
    await reading;
    for (let i = 0; i < agents; i++) while (await this.#readOnce(i) > 0);
    const tookMs = Math.round(performance.now() - beganMs);
    await this.#check();
    return { sendStatuses: this.#statuses, messages: this.#acknowledged.length, tookMs };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #anyTarget(): Target {
    return this.targets[this.#below(this.targets.length)]!;
  }

  async #sendOne(from: number, left: number): Promise<void> {
    const to = this.#below(this.options.recipients ?? this.options.agents);
    const text = `${from}/${left}`;
    const body = JSON.stringify({ body: { text }, to: this.#agents[to]!.handle });
    const timestamp = this.targets[0]!.clock.seconds();
    const toAll = this.#below(100) < (this.options.toAllPercent ?? 0);
    const first = toAll ? this.targets : [this.#anyTarget()];
    let answers = await Promise.all(
      first.map((target) => this.#post(from, target, body, timestamp)),
    );
    // A 503 says: repeat the same request. Wherever it is repeated, it is stored at most once.
    for (let tries = 1; answers.every(({ status }) => status === 503); tries++) {
      assert.ok(tries < TRIES, `${TRIES} answers of 503 to one send`);
      answers = [await this.#post(from, this.#anyTarget(), body, timestamp)];
    }
    const accepted = answers.filter(({ status }) => status === 201);
    for (const { status, text: told } of answers) {
      assert.ok(status === 201 || status === 503, `a send was answered ${status} ${told}`);
    }
    const ids = new Set(accepted.map(({ json }) => json.id));
    assert.equal(ids.size, 1, `one signed request became messages ${[...ids]}`);
    this.#acknowledged.push({ id: accepted[0]!.json.id, from, to, text });
  }

  async #post(from: number, target: Target, body: string, timestamp: number): Promise<Answer> {
    const agent = this.#agents[from]!.at(target);
    const answer = await agent.call("POST", "/v1/messages", { body, timestamp });
    this.#statuses[answer.status] = (this.#statuses[answer.status] ?? 0) + 1;
    return answer;
  }

  async #readWhileSending(agent: number): Promise<void> {
    while (this.#sending) {
      await this.#readOnce(agent);
      await delay(5);
    }
  }

  /** One poll after the cursor. @returns how many messages it gave */
  async #readOnce(agent: number): Promise<number> {
    const reader = this.#readers[agent]!;
    const limit = 1 + this.#below(60);
    const query = `since_id=${reader.lastId}&limit=${limit}`;
    for (let tries = 0;; tries++) {
      const answer = await this.#agents[agent]!.at(this.#anyTarget())
        .call("GET", "/v1/inbox", { query });
      if (answer.status !== 200) {
        assert.ok([429, 503].includes(answer.status), `a poll was answered ${answer.text}`);
        assert.ok(tries < TRIES, `${TRIES} polls were refused: ${answer.text}`);
        await delay(5);
        continue;
      }
      const { messages, last_id } = answer.json;
      assert.ok(messages.length <= limit);
      for (const message of messages) {
        assert.ok(message.id > reader.lastId, `${message.id} came after ${reader.lastId}`);
        reader.lastId = message.id;
        reader.messages.push(message);
      }
      assert.equal(last_id, reader.lastId);
      return messages.length;
    }
  }

  async #check(): Promise<void> {
    const ids = this.#acknowledged.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, "an id was given twice");
    for (const [i, reader] of this.#readers.entries()) {
      const expected = this.#acknowledged.filter(({ to }) => to === i).sort((a, b) => a.id - b.id);
      const given = reader.messages.map(({ id, body }) => `${id} ${body.text}`);
      assert.deepEqual(given, expected.map(({ id, text }) => `${id} ${text}`));
    }
    await Promise.all(this.#readers.map((reader, i) => this.#verifyAll(reader, i)));
    for (const i of this.#agents.keys()) await this.#checkOutbox(i);
  }

  async #verifyAll({ messages }: Reader, to: number): Promise<void> {
    const { address, handle } = this.#agents[to]!;
    for (const message of messages) {
      const from = this.#agents[Number(message.body.text.split("/")[0])]!.address;
      const report = await verifyMessage(message, { recipient: { address, handle }, from });
      assert.equal(report.signature, "valid");
      assert.equal(report.body, "bound");
      assert.equal(report.sender, "pinned");
    }
  }

  async #checkOutbox(from: number): Promise<void> {
    const expected = this.#acknowledged.filter((sent) => sent.from === from);
    const found: { id: number; delivered_at: string | null }[] = [];
    for (let lastId = 0;;) {
      const answer = await this.#agents[from]!.at(this.#anyTarget())
        .call("GET", "/v1/outbox", { query: `limit=200&since_id=${lastId}` });
      assert.equal(answer.status, 200, answer.text);
      if (answer.json.messages.length === 0) break;
      found.push(...answer.json.messages);
      lastId = answer.json.last_id;
    }
    assert.deepEqual(
      found.map(({ id }) => id),
      expected.map(({ id }) => id).sort((a, b) => a - b),
    );
    for (const { id, delivered_at } of found) {
      assert.notEqual(delivered_at, null, `message ${id} was delivered and is not stamped`);
    }
  }
}
