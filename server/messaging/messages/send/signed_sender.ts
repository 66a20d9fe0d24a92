/** Sends by agents that sign their requests (specification, 4.3, send rule 1). */
import type { SignatureCredential } from "../../agents/authenticator.ts";
import type { Identity } from "../../agents/agent_records.ts";
import type { SignatureUse } from "../../agents/signature_use.ts";
import { RelayError } from "../../../base/errors.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { outKey, type OutRecord } from "../../mailboxes/agent_mailboxes.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { findRecipient, type RecipientServices } from "./find_recipient.ts";
import type { Sender } from "./sender.ts";
import type { SendAnswer, SendResult } from "./send_answer.ts";
import { refuseSender } from "./send_refusals.ts";
import { readSendRequest } from "../rows/send_request.ts";

export interface SignedSenderOptions extends RecipientServices {
  store: Pick<Store, "exclusive">;
  records: RecordCache;
  limits: Limits;
  sender: Sender;
}

export class SignedSender {
  constructor(private readonly options: SignedSenderOptions) {}

  /**
   * Stores the message of a signed request, once however often the request is repeated.
   * @param raw the signed bytes: the body of POST /v1/messages
   * @param addressHash keyed hash of the client's address, asked for only where the send is stored
   * @throws RelayError as POST /v1/messages
   */
  async send(
    agent: Identity,
    { use, canonicalString }: SignatureCredential,
    raw: Uint8Array,
    addressHash: () => string,
  ): Promise<SendResult> {
    const { store, sender } = this.options;
    const remembered = await sender.remembers(agent.id, use);
    // Where the store is shared, the commit decides on a ban, or what is read before an answer.
    if (store.exclusive || remembered) await this.#refuseBanned(agent); // Check 3
    if (remembered) { // Replay 1
      const answer = await sender.answered(agent.id, use);
      if (answer !== null) return resultOf(answer);
    }
    try {
      const request = readSendRequest(raw, this.options.limits.bodyBytes);
      const recipient = await findRecipient(this.options, request.to);
      return resultOf(
        await sender.send({
          sender: agent,
          recipient,
          request,
          raw,
          use,
          canonicalString,
          bearer: false,
          addressHash: addressHash(),
        }),
      );
    } catch (error) {
      if (!(error instanceof RelayError) || store.exclusive) throw error;
      return await this.#answerBefore(error, agent, use);
    }
  }

  /** Only the store knows whether the agent is banned and whether a refused send was accepted before. */
  async #answerBefore(
    refusal: RelayError,
    agent: Identity,
    use: SignatureUse,
  ): Promise<SendResult> {
    await this.#refuseBanned(agent);
    const answer = await this.options.sender.answered(agent.id, use); // Replay 6
    if (answer === null) throw refusal;
    return resultOf(answer);
  }

  /** @throws RelayError `banned` */
  async #refuseBanned(agent: Identity): Promise<void> {
    refuseSender((await this.options.records.read<OutRecord>(outKey(agent.id)))!, false);
  }
}

/** A receipt was made for this request; anything else is the row of an earlier one. */
function resultOf(answer: SendAnswer): SendResult {
  return { answer, replayed: !("kind" in answer) };
}
