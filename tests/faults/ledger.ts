/**
 * What clients know across the deaths of their relay: what was acknowledged, what was shown, and
 * what they heard no outcome of. The store is checked against it after every start.
 */
import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../server/base/config/limits.ts";
import { verifyMessage } from "../../toolkit/mod.ts";
import { type Answer, assertStatus } from "../support/answer.ts";
import { type CallOptions, type Target, type TestAgent, toBytes } from "../support/test_agent.ts";

/** A signed send whose answer may have been lost. */
interface Attempt {
  from: number;
  to: number;
  text: string;
  body: Uint8Array<ArrayBuffer>;
  timestamp: number;
  /** From its first 201. */
  id?: number;
}

/** How far the relay's clock may be from a signature's time. */
const WINDOW_SECONDS = DEFAULT_LIMITS.signatureWindowSeconds;
/** One of this many last acknowledged messages is repeated. */
const REPEATED = 5_000;

export class Ledger {
  /** Acknowledged with 201, by id. */
  readonly acknowledged = new Map<number, Attempt>();
  /** delivered_at as an outbox first showed it, and after how many readings. */
  readonly #delivered = new Map<number, { at: string; heard: number }>();
  /** How many sends were answered what: by status, 401 by code. */
  readonly answers: Record<string, number> = {};
  /** The last 503 of a send. */
  refusal = "";
  #readings = 0;
  #unanswered: Attempt[] = [];
  /** What was acknowledged, in that order. */
  readonly #accepted: Attempt[] = [];
  readonly #agents: TestAgent[] = [];
  readonly #cursors: number[] = [];
  #count = 0;

  /**
   * @param name what its messages begin with: two ledgers of one store need two
   * @param relaySeconds the relay's clock, unix seconds
   */
  constructor(
    private readonly name = "message",
    private readonly relaySeconds = () => Math.floor(Date.now() / 1000),
  ) {}

  enroll(agent: TestAgent): void {
    this.#agents.push(agent);
    this.#cursors.push(0);
  }

  get enrolled(): readonly TestAgent[] {
    return this.#agents;
  }

  /** One new message; when the relay dies over it, it is remembered as unanswered. */
  async send(target: Target, from: number, to: number): Promise<void> {
    const text = `${this.name} ${this.#count++}`;
    const body = toBytes({ to: this.#agents[to]!.handle, body: { text } });
    const timestamp = target.clock.seconds(); // no two texts are the same
    const attempt = { from, to, text, body, timestamp };
    this.#unanswered.push(attempt);
    await this.#try(target, attempt);
  }

  /** Sends again, byte for byte, what no answer came for. */
  async repeatUnanswered(target: Target): Promise<void> {
    await Promise.all(this.#unanswered.map((attempt) => this.#try(target, attempt)));
    assert.deepEqual(this.#unanswered, [], "a repeated request was not accepted");
  }

  /** Sends again what got no answer, unless the relay's clock refuses it by now. @returns how many are left */
  async repeatStillValid(target: Target): Promise<number> {
    await Promise.all(this.#unanswered.map((attempt) => this.#try(target, attempt)));
    return this.#unanswered.length;
  }

  /** From now on nothing that was sent so far is repeated. */
  endRepetitions(): void {
    this.#unanswered = [];
    this.#accepted.length = 0;
  }

  /** Sends one of the last acknowledged messages again, byte for byte. @param at 0 up to 1: which of them */
  async repeatAcknowledged(target: Target, at: number): Promise<void> {
    const count = Math.min(this.#accepted.length, REPEATED);
    const attempt = this.#accepted.at(-1 - Math.floor(at * count));
    if (attempt !== undefined) await this.#try(target, attempt);
  }

  async #try(target: Target, attempt: Attempt): Promise<void> {
    const { from, text, body, timestamp } = attempt;
    let answer: Answer | null;
    try {
      answer = await this.#call(target, from, "POST", "/v1/messages", { body, timestamp });
    } catch {
      return; // the relay has died
    }
    const name = answer?.status ?? "timestamp_out_of_range";
    this.answers[name] = (this.answers[name] ?? 0) + 1;
    if (answer === null) return;
    if (answer.status === 503) {
      this.refusal = answer.text;
      return; // nobody knows: it is repeated later
    }
    assertStatus(answer, 201);
    const { id } = answer.json;
    const known = this.acknowledged.get(id);
    assert.ok(known === undefined || known === attempt, "two messages were given one id");
    assert.equal(id, attempt.id ??= id, `"${text}" was accepted twice`);
    if (known === undefined) this.#accepted.push(attempt);
    this.acknowledged.set(id, attempt);
    this.#unanswered = this.#unanswered.filter((one) => one !== attempt);
  }

  /**
   * A signed request.
   * @returns null where it was refused for its time, and the relay's clock was that far from it
   */
  async #call(
    target: Target,
    agent: number,
    method: string,
    path: string,
    options: CallOptions,
  ): Promise<Answer | null> {
    const timestamp = options.timestamp ?? target.clock.seconds();
    const offSeconds = () => Math.abs(this.relaySeconds() - timestamp);
    const offBefore = offSeconds();
    const answer = await this.#agents[agent]!.at(target)
      .call(method, path, { ...options, timestamp });
    if (answer.json?.error?.code !== "timestamp_out_of_range") return answer;
    // The clock may have moved meanwhile.
    const off = Math.max(offBefore, offSeconds());
    assert.ok(off >= WINDOW_SECONDS - 1, `refused although ${off} s off: ${answer.text}`);
    return null;
  }

  /** A poll from where the agent's last one ended; messages come in ascending order. */
  async poll(target: Target, agent: number): Promise<number> {
    const sinceId = this.#cursors[agent]!;
    const query = `since_id=${sinceId}&limit=200`;
    const answer = await this.#call(target, agent, "GET", "/v1/inbox", { query });
    if (answer === null || answer.status === 429 || answer.status === 503) return 0;
    assertStatus(answer, 200);
    // Another lane may have gone further meanwhile.
    this.#cursors[agent] = Math.max(this.#cursors[agent]!, answer.json.last_id);
    return answer.json.messages.length;
  }

  /** The newest part of an outbox: what was shown as delivered stays delivered, at the same time. */
  async readOutbox(target: Target, agent: number, sinceId = 0): Promise<void> {
    for (let lastId = sinceId;;) {
      const asked = this.#readings;
      const query = `since_id=${lastId}&limit=200`;
      const answer = await this.#call(target, agent, "GET", "/v1/outbox", { query });
      if (answer === null || answer.status === 503 && answer.text.includes("is stopping")) return;
      assertStatus(answer, 200);
      const heard = ++this.#readings;
      for (const { id, delivered_at } of answer.json.messages) {
        const shown = this.#delivered.get(id);
        if (shown === undefined) {
          if (delivered_at !== null) this.#delivered.set(id, { at: delivered_at, heard });
          continue;
        }
        // Lanes overlap: an answer that another lane's had overtaken may be the older one.
        const overtaken = delivered_at === null && shown.heard > asked;
        if (!overtaken) assert.equal(delivered_at, shown.at, `delivered_at of ${id}`);
      }
      if (answer.json.messages.length === 0) return;
      lastId = answer.json.last_id;
    }
  }

  /**
   * Every acknowledged message above an id is in its inbox and its outbox exactly once, and every
   * message there verifies.
   */
  async check(target: Target, sinceId = 0): Promise<void> {
    const texts = new Set<string>();
    for (let agent = 0; agent < this.#agents.length; agent++) {
      const received = await this.#all(target, agent, "inbox", sinceId);
      for (const message of received) {
        const { text } = message.body;
        assert.ok(!texts.has(text), `"${text}" is there twice`);
        texts.add(text);
        const attempt = this.acknowledged.get(message.id);
        if (attempt !== undefined) assert.deepEqual([attempt.to, attempt.text], [agent, text]);
        const { address, handle } = this.#agents[agent]!;
        const report = await verifyMessage(message, { recipient: { address, handle } });
        assert.deepEqual([report.signature, report.body], ["valid", "bound"]);
      }
      const inInbox = new Set(received.map(({ id }) => id));
      const sent = await this.#all(target, agent, "outbox", sinceId);
      const inOutbox = new Set(sent.map(({ id }) => id));
      assert.equal(inOutbox.size, sent.length);
      for (const [id, { from, to, text }] of this.acknowledged) {
        if (id <= sinceId) continue;
        if (to === agent) assert.ok(inInbox.has(id), `"${text}" was acknowledged and is lost`);
        if (from === agent) assert.ok(inOutbox.has(id), `"${text}" is in no outbox`);
      }
    }
  }

  /** All messages above an id, asked for without moving the clients' cursors. */
  // deno-lint-ignore no-explicit-any -- messages are verified field by field
  async #all(target: Target, agent: number, box: string, sinceId: number): Promise<any[]> {
    const all = [];
    for (let lastId = sinceId;;) {
      const answer = await this.#agents[agent]!.at(target)
        .call("GET", `/v1/${box}`, { query: `since_id=${lastId}&limit=200` });
      assertStatus(answer, 200);
      const ids: number[] = answer.json.messages.map(({ id }: { id: number }) => id);
      assert.deepEqual(ids, ids.toSorted((a, b) => a - b));
      if (ids.length === 0) return all;
      all.push(...answer.json.messages);
      lastId = answer.json.last_id;
    }
  }

  /** The greatest id so far. */
  get lastId(): number {
    let last = 0;
    for (const id of this.acknowledged.keys()) if (id > last) last = id;
    return last;
  }

  /** Messages that an outbox has shown as delivered. */
  get deliveredCount(): number {
    return this.#delivered.size;
  }
}
