/** Sends by token under an Idempotency-Key: one key, one message, for 24 hours. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { fingerprintOf, hashScope } from "../../../base/idempotency/idempotency_key.ts";
import { JoinedRequests, type KeptAnswer } from "../../../base/idempotency/joined_requests.ts";
import type { Keyed } from "../../../base/idempotency/key_use.ts";
import type { RepetitionKind } from "../../../base/idempotency/repetition_sweep.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import { defineRecord } from "../../../base/storage/commits/record_key.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { SendExtension } from "./send_job.ts";

/** What a send under a key was answered; the time of the message is that of the answer. */
interface KeyedAnswer {
  id: number;
  contentHash: string;
}

/** ["idempotency", agentId, SHA-256 of the key as base64url] */
export type KeyedSendRecord = KeptAnswer<KeyedAnswer>;
export const KEYED_SENDS: RepetitionKind = { name: "idempotency" };
const keyedSendKey = defineRecord<KeyedSendRecord, [agentId: number, keyHash: string]>(
  ["idempotency"],
  2,
  {
    holds: "fingerprint of a send by token under an Idempotency-Key, and its answer",
    expires: "24 h, then swept",
  },
);

export class KeyedSends {
  readonly #requests: JoinedRequests<KeyedAnswer>;

  constructor(store: Pick<Store, "now" | "lived">, records: RecordCache) {
    this.#requests = new JoinedRequests(store, records);
  }

  /**
   * Sends once under an agent's key; a second request waits for the first.
   * @param idempotencyKey well-formed
   * @param send sends with the extension that stores the answer under the key, made when the
   * request has been found to be in order
   * @throws RelayError `idempotency_key_reused`, and what send() throws
   */
  async once<T>(
    agentId: number,
    idempotencyKey: string,
    request: JsonObject,
    send: (extend: () => SendExtension) => Promise<T>,
  ): Promise<Keyed<T, KeyedSendRecord>> {
    // Replay 2
    return await this.#requests.once(
      keyedSendKey(agentId, hashScope(idempotencyKey)),
      () => fingerprintOf(askedOf(request)),
      (makeKeyed) =>
        send(() => {
          const keyed = makeKeyed();
          return {
            ...keyed,
            write: (transaction, { id, contentHash }) =>
              keyed.write(transaction, { id, contentHash }),
          };
        }),
    );
  }
}

/** What makes two sends the same: null as absent, content_type absent as "text". */
function askedOf(request: JsonObject): JsonObject {
  const asked: JsonObject = {};
  for (const name of ["to", "body", "in_reply_to"]) {
    const value = request[name];
    if (value !== undefined && (value !== null || name === "body")) asked[name] = value;
  }
  asked["content_type"] = request["content_type"] ?? "text";
  return asked;
}
