/**
 * Sends for agents that cannot sign (specification, 4.3, send rule 2). The relay composes the
 * request and signs it with the key that it holds for the agent. It is stored as if the agent had
 * signed.
 */
import { createHash, type KeyObject, sign } from "node:crypto";
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import type { Identity, TokenKind } from "../../agents/agent_records.ts";
import type { SignatureUse } from "../../agents/signature_use.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { outKey, type OutRecord } from "../../mailboxes/agent_mailboxes.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { rebuildRequest } from "../rows/message_row.ts";
import { findRecipient, type RecipientServices } from "./find_recipient.ts";
import { KeyedSends } from "./keyed_sends.ts";
import type { Sender } from "./sender.ts";
import type { SendAnswer, SendResult } from "./send_answer.ts";
import type { Send, SendExtension } from "./send_job.ts";
import { keyRequired, refuseSender } from "./send_refusals.ts";
import { checkSend, type SendRequest } from "../rows/send_request.ts";
import { UnusedTimestamps } from "./unused_timestamps.ts";

/** Where the private keys of agents are that left them with the relay. */
export interface Signatory {
  /**
   * The agent's key, null when it holds it itself.
   * @throws RelayError `internal` when the key cannot be had
   */
  signingKey(agent: Identity): Promise<KeyObject | null>;
}

export interface TokenSenderOptions extends RecipientServices {
  store: Store;
  records: RecordCache;
  limits: Limits;
  sender: Sender;
  signatory: Signatory;
}

const encoder = new TextEncoder();

export class TokenSender {
  readonly #timestamps: UnusedTimestamps;
  readonly #keyedSends: KeyedSends;

  constructor(private readonly options: TokenSenderOptions) {
    this.#timestamps = new UnusedTimestamps(options.limits.signatureWindowSeconds);
    this.#keyedSends = new KeyedSends(options);
  }

  /**
   * Whether a token of this kind may send for the agent.
   * @throws RelayError `banned`, `key_required`
   */
  async refuseToken(agent: Identity, kind: TokenKind): Promise<void> {
    const out = await this.options.records.read<OutRecord>(outKey(agent.id));
    refuseSender(out!, true); // Check 3
    if (kind === "owner") throw keyRequired();
  }

  /**
   * Sends one message for an agent whose token may send.
   * @param request fields of POST /v1/messages
   * @param idempotencyKey well-formed, or null for none
   * @param addressHash keyed hash of the client's address
   * @throws RelayError as POST /v1/messages, and `idempotency_key_reused`
   */
  async send(
    agent: Identity,
    request: JsonObject,
    idempotencyKey: string | null,
    addressHash: string,
  ): Promise<SendResult> {
    const send = (extension?: SendExtension) => this.#send(agent, request, addressHash, extension);
    if (idempotencyKey === null) return { answer: await send(), replayed: false };
    return await this.#keyedSends.once(agent.id, idempotencyKey, request, send);
  }

  async #send(
    agent: Identity,
    request: JsonObject,
    addressHash: string,
    extension: SendExtension | undefined,
  ): Promise<SendAnswer> {
    const { store, limits, sender, signatory } = this.options;
    const checked = checkSend(request, limits.bodyBytes);
    const recipient = await findRecipient(this.options, checked.to);
    const composed = compose(recipient, checked);
    const bodyHash = createHash("sha256").update(composed.raw).digest("hex");
    const key = await signatory.signingKey(agent);
    if (key === null) throw keyRequired(); // Check 9: exported since the token was looked up
    const name = `${agent.id}/${bodyHash}`;
    for (;;) {
      const second = this.#timestamps.claim(name, Math.floor(store.now() / 1000));
      const canonicalString = `relay:v1:POST:/v1/messages:${bodyHash}:${second}`;
      const use: SignatureUse = {
        signature: new Uint8Array(sign(null, encoder.encode(canonicalString), key)),
        timestampSeconds: second,
      };
      const send = { ...composed, sender: agent, recipient, use, canonicalString, addressHash };
      try {
        const answer = await sender.send({ ...send, bearer: true, extension });
        if ("kind" in answer) return answer; // Replay 7
      } catch (error) {
        this.#timestamps.release(name, second);
        throw error;
      }
    }
  }
}

/** The request that the relay signs: RFC 8785 bytes, the recipient named by its key. */
function compose(recipient: Identity, checked: SendRequest): Pick<Send, "request" | "raw"> {
  const request: SendRequest = {
    ...checked,
    to: recipient.address,
    written: {
      inReplyTo: checked.inReplyTo === null ? "absent" : "value",
      contentType: checked.contentType === "text" ? "absent" : "value",
    },
  };
  const raw = encoder.encode(rebuildRequest({ to: request.to, ...request.written }, request));
  return { request, raw };
}
