/** What a gateway was answered under a webhook-id, for when it asks again (docs/mail.md). */
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { hashScope } from "../../base/idempotency/idempotency_key.ts";
import { type Mark, momentOf, putBeside, Repetitions } from "../../base/idempotency/repetitions.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { recordName } from "../../base/storage/commits/record_cache.ts";
import { defineRecord, type RecordKey } from "../../base/storage/commits/record_key.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import type { MailBase } from "../core/mail_base.ts";

export interface RememberedAnswer {
  status: number;
  /** UTF-8 JSON. */
  body: Uint8Array<ArrayBuffer>;
}

/** That there is an answer; what it says lies in a row beside it, so that memory does not keep it. */
interface AnswerRecord extends Mark {
  status: number;
  /** Attempt that wrote the row. */
  bodyBy: string;
}

type BodyRow = Pick<RememberedAnswer, "body"> & { v: 1 };

/** Gives an answer once its commit is made. */
export type StagedAnswer = () => Promise<RememberedAnswer>;

/** Refusals in memory: with one more, the oldest is forgotten and would be decided again. */
const KEPT_REFUSALS = 5_000;

export const GATEWAY_ANSWERS = new Repetitions<AnswerRecord>({
  name: "mail-gateway",
  lifeMs: 10 * MINUTE_MS,
  lost:
    "a message under this webhook-id was answered, and the answer is not in the store any more; hand it in " +
    "again after Retry-After",
});

/** ["mail-gateway", SHA-256 of the webhook-id] */
const answerKey = defineRecord<AnswerRecord, [hash: string]>(["mail-gateway"], 1, {
  holds: 'what a gateway was answered under a webhook-id; its body in a row under `"body", ' +
    "attempt` after it",
  expires: "10 min, then swept",
});

export type WebhookKey = RecordKey<AnswerRecord>;

export class RememberedAnswers {
  /**
   * Answers to messages that no inbox took. Forgetting one loses no message, and writing each would cost a
   * commit, which a flood of unwanted mail must not have (docs/adr/0039).
   */
  readonly #refusals = new BoundedMap<string, { answer: RememberedAnswer; atElapsedMs: number }>(
    KEPT_REFUSALS,
  );

  constructor(private readonly services: Pick<MailBase, "records" | "commits" | "store">) {}

  keyOf(webhookId: string): WebhookKey {
    return answerKey(hashScope(webhookId));
  }

  async find(key: WebhookKey): Promise<RememberedAnswer | null> {
    const { records, store } = this.services;
    // Signed requests alone get here, and write it soon: the commit need not read it once more.
    const found = store.exclusive
      ? (await records.load(key)).value as AnswerRecord | null
      : await records.read<AnswerRecord>(key);
    const standing = GATEWAY_ANSWERS.standing(found, momentOf(store));
    return standing === null ? this.#findRefusal(key) : await this.#read(key, standing);
  }

  async #read(key: WebhookKey, found: AnswerRecord): Promise<RememberedAnswer> {
    const part = bodyPart(found);
    const { body } = await GATEWAY_ANSWERS.readBeside<BodyRow>(this.services, key, found, part);
    return { status: found.status, body };
  }

  #findRefusal(key: WebhookKey): RememberedAnswer | null {
    const found = this.#refusals.get(recordName(key));
    if (found === undefined) return null;
    const passedMs = this.services.store.elapsed() - found.atElapsedMs;
    return passedMs < GATEWAY_ANSWERS.lifeMs ? found.answer : null;
  }

  /**
   * Remembers an answer.
   * @returns gives the answer that stands: another request under the same id may have been first
   */
  stage(transaction: Transaction, key: WebhookKey, answer: RememberedAnswer): StagedAnswer {
    const former = transaction.record(key);
    const standing = GATEWAY_ANSWERS.standing(former, transaction);
    if (standing !== null) return () => this.#read(key, standing);
    if (former !== null) transaction.delete([...key, ...bodyPart(former)]);
    const { status, body } = answer;
    const { nowMs: atMs, livedMs, attempt: bodyBy } = transaction;
    const record: AnswerRecord = { v: 1, status, atMs, livedMs, bodyBy };
    const part = bodyPart(record);
    putBeside(transaction, key, part, { v: 1, body } satisfies BodyRow);
    GATEWAY_ANSWERS.put(transaction, key, record, { beside: [part] });
    return () => Promise.resolve(answer);
  }

  /** The same in a commit of its own; of a refusal in memory. */
  async keep(key: WebhookKey, answer: RememberedAnswer): Promise<RememberedAnswer> {
    if (answer.status !== 200) {
      const stands = this.#findRefusal(key);
      if (stands !== null) return stands;
      const atElapsedMs = this.services.store.elapsed();
      this.#refusals.set(recordName(key), { answer, atElapsedMs });
      return answer;
    }
    const staged = await this.services.commits.submit((transaction) =>
      this.stage(transaction, key, answer)
    );
    return await staged();
  }
}

/** What the key of an answer's body has more than its record's. */
function bodyPart({ bodyBy }: Pick<AnswerRecord, "bodyBy">): Deno.KvKey {
  return ["body", bodyBy];
}
