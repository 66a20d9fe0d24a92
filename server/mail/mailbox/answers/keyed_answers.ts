/** Answers under Idempotency-Keys of requests that send (docs/mail.md, "Sending once"). */
import type { Blobs } from "../../../base/blobs/blobs.ts";
import { RelayError } from "../../../base/errors.ts";
import { JSON_HEADERS, NO_STORE } from "../../../base/http/answers/answer.ts";
import { answerWhole } from "../../../base/http/answers/large_answer.ts";
import { hashScope, requireIdempotencyKey } from "../../../base/idempotency/idempotency_key.ts";
import type { KeyedCommit } from "../../../base/idempotency/key_use.ts";
import { ReservedRequests, type ReservedUse } from "../../../base/idempotency/reserved_requests.ts";
import type { GroupCommit } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { RecordKey } from "../../../base/storage/commits/record_key.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { KeyedRequest } from "../../access/mail_route.ts";
import { useKey } from "../../records/stored_answer.ts";
import type { KeptAnswer } from "./large_answers.ts";

export interface KeyedAnswersServices {
  commits: GroupCommit;
  records: Pick<RecordCache, "read" | "readRow">;
  store: Pick<Store, "exclusive" | "now" | "elapsed" | "lived" | "random">;
  blobs: Pick<Blobs, "read">;
}

/** An Idempotency-Key that a request came with. */
export interface GivenKey {
  record: RecordKey<ReservedUse>;
}

/** The answer to a request that sends. */
export interface KeyedAnswer {
  status: number;
  /** JSON. */
  body: Uint8Array<ArrayBuffer>;
  isReplayed: boolean;
}

export class KeyedAnswers {
  readonly #requests: ReservedRequests<KeptAnswer>;

  constructor(private readonly services: KeyedAnswersServices) {
    this.#requests = new ReservedRequests({ ...services, inProgress });
  }

  /** The header of a request; null without one. @throws RelayError `invalid_json` */
  keyOf({ c, org, key }: KeyedRequest): GivenKey | null {
    const given = c.req.raw.headers.get("idempotency-key");
    if (given === null) return null;
    return this.keyFor({
      orgId: org.id,
      keyId: key.id,
      method: c.req.method,
      path: c.get("path"),
      value: given,
      where: "the header Idempotency-Key",
    });
  }

  /** A key that came otherwise. @throws RelayError `invalid_json` */
  keyFor(
    { orgId, keyId, method, path, value, where }: {
      orgId: string;
      keyId: string;
      method: string;
      path: string;
      value: string;
      where: string;
    },
  ): GivenKey {
    // A structured field of RFC 8941 stands in quotes, what most clients send does not.
    const bare = value.replace(/^"(.*)"$/s, "$1");
    const scope = hashScope(keyId, method, path, requireIdempotencyKey(bare, where));
    return { record: useKey(orgId, scope) };
  }

  /**
   * Does work once under a key; without a key it just does it.
   * @param fingerprint of the body, where there is a key
   * @throws RelayError `idempotency_key_reused`, `idempotency_in_progress`, and what the work throws
   */
  async once(
    key: GivenKey | null,
    fingerprint: string | null,
    work: (keyed?: KeyedCommit<KeptAnswer>) => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<KeyedAnswer> {
    if (key === null) return { status: 202, body: await work(), isReplayed: false };
    const done = await this.#requests.once(key.record, fingerprint!, work);
    if (!done.replayed) return { status: 202, body: done.answer, isReplayed: false };
    const kept = done.answer;
    const body = "blob" in kept ? await this.services.blobs.read(kept.blob, 0) : kept.body;
    return { status: kept.status, body, isReplayed: true };
  }
}

/** An answer as a response. */
export function giveKeyed({ status, body, isReplayed }: KeyedAnswer): Response {
  return answerWhole(body, {
    status,
    headers: {
      ...JSON_HEADERS,
      ...NO_STORE,
      ...(isReplayed ? { "Idempotent-Replayed": "true" } : {}),
    },
  });
}

function inProgress(retryAfterMs: number): RelayError {
  return new RelayError(
    "idempotency_in_progress",
    "a request under this Idempotency-Key is under way; repeat this one when it has ended",
    { retryAfterMs },
  );
}
