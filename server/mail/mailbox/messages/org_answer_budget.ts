/**
 * Memory for the large answers of the mail area until they are taken: apart from messaging's, so
 * that neither can take the other's, and for each org a share.
 */
import { unavailable } from "../../../base/errors.ts";
import type { AnswerBounds, AnswerBudget } from "../../../base/http/answers/answer_budget.ts";
import type { HttpEnv } from "../../../base/http/routes/route.ts";
import { LARGE_ANSWER_BYTES } from "../../../base/http/answers/large_answer.ts";
import type { Context } from "hono";

const MIB = 1024 * 1024;
/** Bytes of all answers of the mail area. */
export const MAIL_ANSWERS: AnswerBounds = {
  totalBytes: 96 * MIB,
  anybodyBytes: 16 * MIB,
  idleMs: 30_000,
};
/** The largest message and what is asked for beside it. */
const ORG_BYTES = 32 * MIB;
const RETRY_MS = 1_000;

/** By org no Semaphore: what is shared out is bytes, and one answer alone is given whatever its size. */
export class OrgAnswerBudget {
  readonly #taken = new Map<string, number>();

  /** @param answers of the mail area alone */
  constructor(private readonly answers: Pick<AnswerBudget, "reserve">) {}

  /**
   * Reserves memory for an answer to a request, before its bytes are read; small ones need none.
   * @throws RelayError `unavailable` where there is none, or the org has more than its share
   */
  reserve(c: Context<HttpEnv>, orgId: string, sizeBytes: number): void {
    if (sizeBytes <= LARGE_ANSWER_BYTES) return;
    const taken = this.#taken.get(orgId) ?? 0;
    if (taken > 0 && taken + sizeBytes > ORG_BYTES) {
      throw unavailable(
        "the org has as many large answers open as it may; take those first, then ask again",
        RETRY_MS,
      );
    }
    const reservation = this.answers.reserve(
      sizeBytes,
      "agent",
      () => this.#giveBack(orgId, sizeBytes),
    );
    this.#taken.set(orgId, taken + sizeBytes);
    c.set("reservation", reservation);
  }

  #giveBack(orgId: string, sizeBytes: number): void {
    const left = (this.#taken.get(orgId) ?? 0) - sizeBytes;
    if (left > 0) this.#taken.set(orgId, left);
    else this.#taken.delete(orgId);
  }
}
