/** What a gateway was answered under a webhook-id, for when it asks again (mail page, "Receiving"). */
import { Buffer } from "node:buffer";
import type { GroupCommit } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../storage/store.ts";
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
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  now: () => number;
}

export class RememberedAnswers {
  constructor(private readonly services: RememberedAnswersServices) {}

  async find(webhookId: string): Promise<RememberedAnswer | null> {
    const { records, now } = this.services;
    const found = await records.read<AnswerRecord>(answerKey(await hashOf(webhookId)));
    return found !== null && now() - found.atMs < KEPT_MS ? found : null;
  }

  /** @returns the answer that stands: another request under the same id may have been first */
  async keep(webhookId: string, answer: RememberedAnswer): Promise<RememberedAnswer> {
    const key = answerKey(await hashOf(webhookId));
    return await this.services.commits.submit<RememberedAnswer>({
      records: [key],
      sizeBytes: 1_000 + answer.body.length,
      proof: key,
      plan(turn) {
        const { nowMs, attempt } = turn;
        const former = turn.record(key);
        const stands = former !== null && nowMs - former.atMs < KEPT_MS ? former : null;
        const kept = stands ?? { ...answer, v: 1, atMs: nowMs, attempt };
        turn.putRecord(key, { ...kept, attempt }, KEPT_MS + EXPIRY_MARGIN_MS);
        return kept;
      },
    });
  }
}

async function hashOf(webhookId: string): Promise<string> {
  const bytes = new TextEncoder().encode(webhookId);
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("base64url");
}
