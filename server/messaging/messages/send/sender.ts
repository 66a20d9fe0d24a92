/**
 * The send. Its way by file: `../send_route.ts`, then `signed_sender.ts` or `token_sender.ts` (under an
 * Idempotency-Key with `keyed_sends.ts`), then here, then `send_job.ts`: one group commit that holds
 * the message (`stage_message.ts`), both mailbox records and the signature, in a row of its own or of the
 * whole group (`use_group.ts`). `accepted_sends.ts` knows which signatures were accepted.
 *
 * What can refuse it, in this order. The file marks each by its number.
 *
 * - Check 1, `../send_route.ts`: the body is within its bound, and in time. payload_too_large, request_timeout
 * - Check 2, `../send_route.ts`: a signature or a token tells the sender. 401 with the code of what is wrong
 * - Check 3, `signed_sender.ts`, `token_sender.ts`: the sender is not banned; by token, the relay holds
 *   its key. banned, key_required. On a shared store a signed send leaves this to check 10, unless
 *   memory remembers its signature.
 * - Check 4, `../send_route.ts`: an Idempotency-Key has its form; by token alone. invalid_json
 * - Check 5, `../rows/send_request.ts`: strict JSON, and fields of their types. invalid_json
 * - Check 6, `../rows/send_request.ts`: the canonical body is within its bound. payload_too_large
 * - Check 7, `find_recipient.ts`: the recipient is registered. not_found
 * - Check 8, `find_recipient.ts`: the disk has room. unavailable
 * - Check 9, `token_sender.ts`: the key is still here, and a second is free to sign with; by token
 *   alone. key_required, rate_limited
 * - Check 10, `send_job.ts`: what check 3 found is so in the commit. banned, key_required
 * - Check 11, `send_job.ts`: the signed time lies above all that the relay may have forgotten. unavailable
 * - Check 12, `send_job.ts`: the recipient is not banned. recipient_banned
 * - Check 13, `send_job.ts`: the sender's minute and its retained bytes have room. rate_limited
 * - Check 14, `send_job.ts`: the hour of the client's address has room. rate_limited
 *
 * Where it is found that the send was accepted before, in this order. "The row" is the signature's.
 *
 * - Replay 1, `signed_sender.ts`: after check 3, the row where memory remembers the signature.
 * - Replay 2, `keyed_sends.ts`: by token, the record of the Idempotency-Key: once the body is known
 *   to be a JSON object, and again in the commit, after check 10.
 * - Replay 3, `sender.ts`: the row after another flight of the same signature has ended.
 * - Replay 4, `sender.ts`: the row where memory may have the signature.
 * - Replay 5, `send_job.ts`: the row when a commit has failed, and before a refusal on a shared store.
 *   On a shared store the commit requires the row absent; on an exclusive one memory tells that it is.
 * - Replay 6, `signed_sender.ts`: after a refusal by check 5 or a later one, the row where only the store
 *   can tell; check 3 comes before it.
 * - Replay 7, `token_sender.ts`: whether the row that was found is of an attempt of this very send, and so
 *   its receipt. If not, an equal message took the second, and the next one is signed.
 */
import { signatureName, type SignatureUse } from "../../agents/signature_use.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { inKey, type InRecord } from "../../mailboxes/agent_mailboxes.ts";
import { type GroupCommit, Outdated } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { MailboxWaits } from "../../../base/waiting/mailbox_waits.ts";
import type { RecentMessages } from "../rows/recent_messages.ts";
import { AcceptedSends } from "./accepted_sends.ts";
import { AddressBytes } from "./address_bytes.ts";
import type { SendAnswer } from "./send_answer.ts";
import { makeSendJob, type Send, type SendJobContext } from "./send_job.ts";

export type { Receipt, SendAnswer, SendUseRow } from "./send_answer.ts";
export type { Send } from "./send_job.ts";

export interface SenderOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  limits: Limits;
  waits: Pick<MailboxWaits<InRecord, number>, "announce">;
  recent: RecentMessages;
}

export class Sender {
  readonly #accepted: AcceptedSends;
  readonly #addressBytes: AddressBytes;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  readonly #jobContext: SendJobContext;

  constructor(private readonly options: SenderOptions) {
    const { limits, records, store } = options;
    this.#addressBytes = new AddressBytes(limits.storedBytesPerIpPerHour);
    const { signatureWindowSeconds } = limits;
    this.#accepted = new AcceptedSends({ store, records, signatureWindowSeconds });
    this.#jobContext = {
      records,
      limits,
      recent: options.recent,
      addressBytes: this.#addressBytes,
      accepted: this.#accepted,
      store,
      learn: ({ use, recipient }, row) => {
        this.#accepted.add(use, row);
        options.waits.announce(inKey(recipient.id));
      },
    };
  }

  /**
   * The stored answer of a send that was accepted with this signature, or null. Waits for one that
   * is under way. On a shared store the look-up costs a read: it is made before refusals only.
   */
  async answered(senderId: number, use: SignatureUse): Promise<SendAnswer | null> {
    const running = this.#inFlight.get(signatureName(senderId, use.signature));
    if (running !== undefined) await running.catch(() => {});
    return (await this.#accepted.find(senderId, use)).answer;
  }

  /** Whether memory knows of a send with this signature, accepted or under way. */
  async remembers(senderId: number, use: SignatureUse): Promise<boolean> {
    const recalled = this.#accepted.recall(use);
    if (recalled !== undefined) await recalled;
    const name = signatureName(senderId, use.signature);
    return this.#inFlight.has(name) || this.#accepted.mayHave(use);
  }

  /**
   * Stores one message, acknowledged only after its commit; those that arrive together are committed
   * together.
   * @throws RelayError `banned`, `key_required`, `recipient_banned`, `rate_limited`, `unavailable`
   */
  async send(send: Send): Promise<SendAnswer> {
    const name = signatureName(send.sender.id, send.use.signature);
    while (this.#inFlight.has(name)) { // Replay 3
      const answer = await this.answered(send.sender.id, send.use);
      if (answer !== null) return answer;
    }
    const flight = this.#sendOnce(send);
    this.#inFlight.set(name, flight);
    try {
      return await flight;
    } finally {
      if (this.#inFlight.get(name) === flight) this.#inFlight.delete(name);
    }
  }

  /** The only flight of its signature: nothing can be accepted between the look-up and the commit. */
  async #sendOnce(send: Send): Promise<SendAnswer> {
    const { sender, use } = send;
    for (;;) {
      const recalled = this.#accepted.recall(use);
      if (recalled !== undefined) await recalled;
      const looked = this.#accepted.lookUp(sender.id, use); // Replay 4
      const found = looked instanceof Promise ? await looked : looked;
      if (found.answer !== null) return found.answer;
      const { job, reserved } = makeSendJob(send, found, this.#jobContext);
      try {
        return await this.options.commits.submit(job);
      } catch (error) {
        // Memory has forgotten or learnt something of the signature while the send waited.
        if (!(error instanceof Outdated) || !this.#accepted.isOutdated(use, found)) throw error;
      } finally {
        reserved.giveBack(); // what was stored has been counted
      }
    }
  }

  /** Forgets signatures that can no longer pass and addresses that sent nothing. Called every minute. */
  forgetExpired(): void {
    this.#accepted.forgetExpired();
    this.#addressBytes.forgetExpired(this.options.store.now());
  }
}
