/** What a gateway was answered under a webhook-id, for when it asks again (mail page, "Receiving"). */
import { Buffer } from "node:buffer";
import { sha256Of } from "../../http/sha256_of.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import type { Turn } from "../../storage/job.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { defineRecord, type RecordKey } from "../../storage/record_key.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../storage/store.ts";
import { MINUTE_MS } from "../../time_units.ts";

export interface RememberedAnswer {
  status: number;
  /** UTF-8 JSON. */
  body: Uint8Array<ArrayBuffer>;
}

interface AnswerRecord extends RememberedAnswer {
  v: 1;
  atMs: number;
  attempt: string;
}

const KEPT_MS = 10 * MINUTE_MS;

/** ["mail-gateway", SHA-256 of the webhook-id] */
const answerKey = defineRecord<AnswerRecord, [hash: string]>(["mail-gateway"], 1);

export interface RememberedAnswersServices {
  records: Pick<RecordCache, "load" | "read">;
  commits: GroupCommit;
  store: Pick<Store, "exclusive" | "now">;
}

export class RememberedAnswers {
  constructor(private readonly services: RememberedAnswersServices) {}

  async at(webhookId: string): Promise<RememberedPlace> {
    return new RememberedPlace(this.services, answerKey(await hashOf(webhookId)));
  }
}

/** What is remembered under one webhook-id. */
export class RememberedPlace {
  constructor(
    private readonly services: RememberedAnswersServices,
    private readonly key: RecordKey<AnswerRecord>,
  ) {}

  get records(): readonly RecordKey<unknown>[] {
    return [this.key];
  }

  async find(): Promise<RememberedAnswer | null> {
    const { records, store } = this.services;
    // Signed requests alone get here, and write it soon: the commit need not read it once more.
    const found = store.exclusive
      ? (await records.load(this.key)).value as AnswerRecord | null
      : await records.read<AnswerRecord>(this.key);
    return found !== null && store.now() - found.atMs < KEPT_MS ? found : null;
  }

  /**
   * Remembers an answer, in a job that names the records.
   * @returns the answer that stands: another request under the same id may have been first
   */
  stage(turn: Turn, answer: RememberedAnswer): RememberedAnswer {
    const { nowMs, attempt } = turn;
    const former = turn.record(this.key);
    const stands = former !== null && nowMs - former.atMs < KEPT_MS ? former : null;
    const { status, body, atMs } = stands ?? { ...answer, atMs: nowMs };
    const record: AnswerRecord = { v: 1, status, body, atMs, attempt };
    turn.putRecord(this.key, record, KEPT_MS + EXPIRY_MARGIN_MS);
    return { status, body };
  }

  /** The same in a commit of its own. */
  async keep(answer: RememberedAnswer): Promise<RememberedAnswer> {
    return await this.services.commits.submit<RememberedAnswer>({
      records: this.records,
      sizeBytes: 1_000 + answer.body.length,
      proof: this.key,
      plan: (turn) => this.stage(turn, answer),
    });
  }
}

async function hashOf(webhookId: string): Promise<string> {
  const bytes = new TextEncoder().encode(webhookId);
  return Buffer.from(await sha256Of(bytes)).toString("base64url");
}
