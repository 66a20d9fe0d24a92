/**
 * The send: one group commit that holds the message, both mailbox records, the signature that makes
 * a repetition harmless, and whatever the groups' annotations derive from it.
 */
import { Buffer } from "node:buffer";
import {
  keepSignatureUntilMs,
  signatureKey,
  signatureName,
  type SignatureUse,
} from "../../agents/signature_use.ts";
import type { Identity } from "../../agents/records.ts";
import { rateLimited } from "../../errors.ts";
import { inKey, type InRecord, outKey, type OutRecord } from "../../mailboxes/records.ts";
import { retainBytes } from "../../mailboxes/retained_bytes.ts";
import { admit } from "../../rate_window.ts";
import type { GroupCommit, Job, Turn } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../storage/store.ts";
import type { Limits } from "../../limits.ts";
import type { Arrivals } from "../inbox/arrivals.ts";
import { AddressBytes, type HeldBytes } from "./address_bytes.ts";
import { Fingerprints } from "./fingerprints.ts";
import { cutIntoPieces, formOf } from "../rows/message_row.ts";
import type { RecentMessages } from "../rows/recent_messages.ts";
import { decodeRow } from "../rows/row_codec.ts";
import type { Receipt, SendAnswer, SendUseRow } from "./send_answer.ts";
import { recipientBanned, refuseSender } from "./send_refusals.ts";
import type { SendRequest } from "./send_request.ts";
import { stageMessage } from "./stage_message.ts";
import { DAY_MS, MINUTE_MS } from "../../time_units.ts";

export type { Receipt, SendAnswer, SendUseRow } from "./send_answer.ts";

/** A send whose signature has been verified and whose recipient exists. */
export interface Send {
  sender: Identity;
  recipient: Identity;
  request: SendRequest;
  /** The signed bytes. */
  raw: Uint8Array;
  use: SignatureUse;
  canonicalString: string;
  /** True where the relay signs for an agent that sent a token. */
  bearer: boolean;
  /** Keyed hash of the client address that the request came from. */
  addressHash: string;
  extension?: SendExtension;
}

/** What else a send rests on and writes, such as the answer under an Idempotency-Key. */
export interface SendExtension {
  /** Records that are read and written beside the two mailboxes. */
  records: readonly Deno.KvKey[];
  /** Run as soon as it is clear that the sender may send, before any other refusal. @throws to refuse */
  decide(turn: Turn): void;
  write(turn: Turn, receipt: Receipt): void;
}

export interface SenderOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  limits: Limits;
  arrivals: Arrivals;
  recent: RecentMessages;
  /** Greatest time, in unix ms, that a former process on this store can have seen. */
  formerClockMs: number;
}

export class Sender {
  readonly #accepted: Fingerprints;
  readonly #addressBytes: AddressBytes;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  readonly #unknownUntilSeconds: number;

  constructor(private readonly options: SenderOptions) {
    const { limits, formerClockMs, store } = options;
    this.#addressBytes = new AddressBytes(limits.storedBytesPerIpPerHour);
    // Signatures up to this second may have been accepted before this process began.
    this.#unknownUntilSeconds = Math.ceil(Math.max(store.now(), formerClockMs) / 1000) +
      limits.signatureWindowSeconds + 60;
    this.#accepted = new Fingerprints({
      keptMs: keepSignatureUntilMs(0, limits.signatureWindowSeconds),
      seed: store.random(8),
    });
  }

  /**
   * The stored answer of a send that was accepted with this signature, or null. Waits for one that
   * is under way. On a shared store the look-up costs a read: it is made before refusals only.
   */
  async answered(senderId: number, use: SignatureUse): Promise<SendAnswer | null> {
    const running = this.#inFlight.get(signatureName(senderId, use.signature));
    if (running !== undefined) await running.catch(() => {});
    const row = await this.options.records.readRow<SendUseRow>(signatureKey(senderId, use));
    return row?.use === "send" ? row : null;
  }

  /** Whether memory knows of a send with this signature, accepted or under way. */
  remembers(senderId: number, use: SignatureUse): boolean {
    const name = signatureName(senderId, use.signature);
    return this.#inFlight.has(name) || this.#accepted.mayHave(use);
  }

  /** Whether only the store can tell if a send with this timestamp was accepted before. */
  isUnknown({ timestampSeconds }: SignatureUse): boolean {
    return !this.options.store.exclusive || timestampSeconds <= this.#unknownUntilSeconds ||
      !this.#accepted.isComplete(timestampSeconds);
  }

  /**
   * Stores one message, acknowledged only after its commit; those that arrive together are committed
   * together.
   * @throws RelayError `banned`, `key_required`, `recipient_banned`, `rate_limited`, `unavailable`
   */
  async send(send: Send): Promise<SendAnswer> {
    const name = signatureName(send.sender.id, send.use.signature);
    while (this.#inFlight.has(name)) {
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
    if (this.#accepted.mayHave(use)) {
      const key = signatureKey(sender.id, use);
      const row = await this.options.records.readRow<SendUseRow>(key);
      if (row?.use === "send") return row;
    }
    const { job, held } = this.#job(send);
    try {
      return await this.options.commits.submit(job);
    } finally {
      held.giveBack(); // what was stored has been counted
    }
  }

  #job(send: Send): { job: Job<SendAnswer>; held: HeldBytes } {
    const { sender, recipient, request, use } = send;
    const { records, limits, arrivals, recent } = this.options;
    const usedKey = signatureKey(sender.id, use);
    const form = formOf(request, send.raw);
    const rawPieces = form === null ? cutIntoPieces(send.raw) : [];
    const rawBytes = form === null ? send.raw.length : 0;
    const expireInMs = limits.retentionDays * DAY_MS + EXPIRY_MARGIN_MS;
    const envelope = {
      sender,
      recipientId: recipient.id,
      request,
      signature: Buffer.from(use.signature).toString("base64"),
      canonicalString: send.canonicalString,
    };
    const sizeBytes = request.bodySizeBytes + rawBytes + 1_000;
    const held = this.#addressBytes.of(send.addressHash, sizeBytes);
    // A fingerprint without its row may belong to a commit that nobody knows the outcome of.
    const checkUse = this.isUnknown(use) || this.#accepted.mayHave(use);
    const learn = () => {
      this.#accepted.add(use);
      arrivals.announce(recipient.id);
    };
    /** What the last attempt stored. */
    let stored: { receipt: Receipt; previousId: number; bytes: Uint8Array };
    const job: Job<SendAnswer> = {
      records: [outKey(sender.id), inKey(recipient.id), ...(send.extension?.records ?? [])],
      sizeBytes: sizeBytes + 1_500,
      proof: usedKey,
      settle: async () => {
        const row = await records.readRow<SendUseRow>(usedKey);
        if (row?.use !== "send") return undefined;
        // A ban stands before the repetition of an answer.
        const out = await records.readRow<OutRecord>(outKey(sender.id));
        refuseSender(out!, send.bearer);
        return row;
      },
      plan: (turn) => {
        const out = turn.record<OutRecord>(outKey(sender.id))!;
        const inbox = turn.record<InRecord>(inKey(recipient.id))!;
        refuseSender(out, send.bearer);
        send.extension?.decide(turn);
        if (inbox.banned) throw recipientBanned();
        const charged = this.#charge(out, sizeBytes, turn.nowMs);
        held.hold(turn.nowMs);
        const id = turn.allocateId(Math.max(out.head, inbox.head));
        const createdAtMs = turn.nowMs;

        if (checkUse) turn.requireAbsent(usedKey);
        const { contentHash } = request;
        const { attempt } = turn;
        turn.set(
          usedKey,
          { v: 1, attempt, use: "send", id, contentHash, createdAtMs } satisfies SendUseRow,
          use.keepUntilMs - turn.nowMs + EXPIRY_MARGIN_MS,
        );
        turn.putRecord(inKey(recipient.id), { ...inbox, head: id });
        // A message to oneself: both records belong to one agent, and are written one after the other.
        turn.putRecord(outKey(sender.id), { ...out, ...charged, head: id });
        const bytes = stageMessage(turn, {
          id,
          createdAtMs,
          envelope,
          form,
          rawPieces,
          expireInMs,
        });
        const receipt: Receipt = {
          kind: "sent",
          id,
          contentHash,
          createdAtMs,
          sender,
          recipient,
          notify: inbox.notify,
        };
        send.extension?.write(turn, receipt);
        stored = { receipt, previousId: inbox.head, bytes };
        return receipt;
      },
      committed: (receipt) => {
        if (receipt === stored.receipt) {
          held.count();
          recent.add(recipient.id, stored.previousId, receipt.id, decodeRow(stored.bytes));
        }
        learn();
      },
      leftUnclear: learn,
    };
    return { job, held };
  }

  /** What a sender's record says after one more message. @throws RelayError `rate_limited` */
  #charge(
    { sends, retained }: OutRecord,
    sizeBytes: number,
    nowMs: number,
  ): Pick<OutRecord, "sends" | "retained"> {
    const { sendsPerAgentPerMinute, retainedBytesPerSender, retentionDays } = this.options.limits;
    const admitted = admit(sends, nowMs, { limit: sendsPerAgentPerMinute, windowMs: MINUTE_MS });
    if ("retryAfterMs" in admitted) {
      throw rateLimited(
        `at most ${sendsPerAgentPerMinute} messages a minute; wait retry_after_ms, then send again`,
        admitted.retryAfterMs,
      );
    }
    const kept = retainBytes(retained, sizeBytes, nowMs, {
      limitBytes: retainedBytesPerSender,
      retentionMs: retentionDays * DAY_MS,
    });
    if ("retryAfterMs" in kept) {
      throw rateLimited(
        `at most ${retainedBytesPerSender} bytes of one sender's messages are retained; older ones make room when they expire`,
        kept.retryAfterMs,
      );
    }
    return { sends: admitted.window, retained: kept.days };
  }

  /** Forgets signatures that can no longer pass and addresses that sent nothing. Called every minute. */
  sweep(): void {
    const nowMs = this.options.store.now();
    this.#accepted.sweep(nowMs);
    this.#addressBytes.sweep(nowMs);
  }
}
