/** What a gateway was answered under a webhook-id, for when it asks again (docs/mail.md). */
import { Buffer } from "node:buffer";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { type RelayError, unavailable } from "../../base/errors.ts";
import { sha256Of } from "../../base/slices/sha256_of.ts";
import {
  momentOf,
  stageRepetition,
  stillStands,
  timeLeftMs,
  type Written,
} from "../../base/idempotency/repetition.ts";
import type { RepetitionKind } from "../../base/idempotency/repetition_sweep.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { defineRecord, type RecordKey } from "../../base/storage/commits/record_key.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import type { MailBase } from "../core/mail_base.ts";

export interface RememberedAnswer {
  status: number;
  /** UTF-8 JSON. */
  body: Uint8Array<ArrayBuffer>;
}

/** That there is an answer; what it says lies in a row beside it, so that memory does not keep it. */
interface AnswerRecord extends Written {
  v: 1;
  status: number;
  /** Attempt that wrote the row. */
  bodyBy: string;
}

interface BodyRow {
  v: 1;
  body: Uint8Array<ArrayBuffer>;
}

/** Gives an answer once its commit is made. */
export type StagedAnswer = () => Promise<RememberedAnswer>;

const KEPT_MS = 10 * MINUTE_MS;
/** Refusals in memory: with one more, the oldest is forgotten and would be decided again. */
const KEPT_REFUSALS = 5_000;

export const GATEWAY_ANSWERS: RepetitionKind = { name: "mail-gateway" };

/** ["mail-gateway", SHA-256 of the webhook-id] */
const answerKey = defineRecord<AnswerRecord, [hash: string]>(["mail-gateway"], 1, {
  holds: 'what a gateway was answered under a webhook-id; its body in a row under `"body", ' +
    "attempt` after it",
  expires: "10 min, then swept",
});

type RememberedAnswersServices = Pick<MailBase, "records" | "commits" | "store">;

export class RememberedAnswers {
  /**
   * Of messages that nobody took. Forgotten, they cost nobody a message, and written, each of them would
   * cost a commit: a flood of mail that is not wanted has none (docs/adr/0039).
   */
  readonly #refusals = new BoundedMap<string, { answer: RememberedAnswer; atElapsedMs: number }>(
    KEPT_REFUSALS,
  );

  constructor(private readonly services: RememberedAnswersServices) {}

  async at(webhookId: string): Promise<AnswerEntry> {
    const hash = await hashOf(webhookId);
    return new AnswerEntry(this.services, answerKey(hash), {
      find: () => this.#findRefusal(hash),
      keep: (answer) => this.#keepRefusal(hash, answer),
    });
  }

  #findRefusal(hash: string): RememberedAnswer | null {
    const found = this.#refusals.get(hash);
    return found !== undefined && this.services.store.elapsed() - found.atElapsedMs < KEPT_MS
      ? found.answer
      : null;
  }

  #keepRefusal(hash: string, answer: RememberedAnswer): RememberedAnswer {
    const stands = this.#findRefusal(hash);
    if (stands !== null) return stands;
    this.#refusals.set(hash, { answer, atElapsedMs: this.services.store.elapsed() });
    return answer;
  }
}

interface RefusalEntry {
  find(): RememberedAnswer | null;
  /** @returns the answer that stands: another request under the same id may have been first */
  keep(answer: RememberedAnswer): RememberedAnswer;
}

/** What is remembered under one webhook-id. */
export class AnswerEntry {
  constructor(
    private readonly services: RememberedAnswersServices,
    private readonly key: RecordKey<AnswerRecord>,
    private readonly refusal: RefusalEntry,
  ) {}

  async find(): Promise<RememberedAnswer | null> {
    const { records, store } = this.services;
    // Signed requests alone get here, and write it soon: the commit need not read it once more.
    const found = store.exclusive
      ? (await records.load(this.key)).value as AnswerRecord | null
      : await records.read<AnswerRecord>(this.key);
    if (found === null || !stillStands(found, KEPT_MS, momentOf(store))) {
      return this.refusal.find();
    }
    return await this.#read(found);
  }

  async #read(found: AnswerRecord): Promise<RememberedAnswer> {
    const { records, store } = this.services;
    const row = await records.readRow<BodyRow>(this.#bodyKey(found));
    if (row === null) throw answerLost(timeLeftMs(found, KEPT_MS, momentOf(store)));
    return { status: found.status, body: row.body };
  }

  #bodyKey(record: Pick<AnswerRecord, "bodyBy">): Deno.KvKey {
    return [...this.key, ...bodyBeside(record)];
  }

  /**
   * Remembers an answer.
   * @returns gives the answer that stands: another request under the same id may have been first
   */
  stage(transaction: Transaction, answer: RememberedAnswer): StagedAnswer {
    const former = transaction.record(this.key);
    if (former !== null && stillStands(former, KEPT_MS, transaction)) {
      return () => this.#read(former);
    }
    const { nowMs: atMs, livedMs, attempt: bodyBy } = transaction;
    const record: AnswerRecord = { v: 1, status: answer.status, atMs, livedMs, bodyBy };
    transaction.putRecord(this.key, record);
    if (former !== null) transaction.delete(this.#bodyKey(former));
    transaction.set(this.#bodyKey(record), { v: 1, body: answer.body } satisfies BodyRow);
    stageRepetition(transaction, this.key, KEPT_MS, { beside: [bodyBeside(record)] });
    return () => Promise.resolve(answer);
  }

  /** The same in a commit of its own; of a refusal in memory. */
  async keep(answer: RememberedAnswer): Promise<RememberedAnswer> {
    if (answer.status !== 200) return this.refusal.keep(answer);
    const staged = await this.services.commits.submit((transaction) =>
      this.stage(transaction, answer)
    );
    return await staged();
  }
}

/** What the key of an answer's body has more than its record's. */
function bodyBeside({ bodyBy }: Pick<AnswerRecord, "bodyBy">): Deno.KvKey {
  return ["body", bodyBy];
}

/** Former versions left it to the store when record and body go: one of them may be gone alone. */
function answerLost(leftMs: number): RelayError {
  return unavailable(
    "a message under this webhook-id was answered, and the answer is not in the store any more; hand it in again " +
      "after Retry-After",
    Math.max(1, Math.ceil(leftMs)),
  );
}

async function hashOf(webhookId: string): Promise<string> {
  const bytes = new TextEncoder().encode(webhookId);
  return Buffer.from(await sha256Of(bytes)).toString("base64url");
}
