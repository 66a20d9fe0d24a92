/** Sends by token under an Idempotency-Key: one key, one message, for 24 hours. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { fingerprintOf, hashScope } from "../../../base/idempotency/idempotency_key.ts";
import {
  type Keyed,
  KeyedRequests,
  type KeyedRequestsOptions,
  type KeyUse,
  keyUses,
} from "../../../base/idempotency/keyed_requests.ts";
import { defineRecord } from "../../../base/storage/commits/record_key.ts";
import type { SendResult } from "./send_answer.ts";
import type { SendExtension } from "./send_job.ts";

/** What a send under a key was answered. */
type KeyedAnswer = SendResult["answer"];

export const KEYED_SENDS = keyUses("idempotency");
const keyedSendKey = defineRecord<KeyUse, [agentId: number, keyHash: string]>(
  ["idempotency"],
  2,
  {
    holds: "fingerprint of a send by token under an Idempotency-Key, and its answer",
    expires: "24 h, then swept",
  },
);

export class KeyedSends {
  readonly #requests: KeyedRequests<KeyedAnswer>;

  constructor(services: Pick<KeyedRequestsOptions, "records" | "store">) {
    this.#requests = new KeyedRequests({ ...services, uses: KEYED_SENDS });
  }

  /**
   * Sends once under an agent's key; a second request waits for the first.
   * @param idempotencyKey well-formed
   * @param send sends with the extension that stores the answer under the key
   * @throws RelayError `idempotency_key_reused`, and what send() throws
   */
  async once<T>(
    agentId: number,
    idempotencyKey: string,
    request: JsonObject,
    send: (extension: SendExtension) => Promise<T>,
  ): Promise<Keyed<T, KeyedAnswer>> {
    // Replay 2
    return await this.#requests.once(
      keyedSendKey(agentId, hashScope(idempotencyKey)),
      () => fingerprintOf(askedOf(request)),
      ({ decide, write }) =>
        send({
          decide,
          write: (transaction, { id, contentHash, createdAtMs }) =>
            write(transaction, { id, contentHash, createdAtMs }),
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
