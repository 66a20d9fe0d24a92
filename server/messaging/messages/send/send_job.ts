/** The commit of one send: what it rests on, what it refuses, and what it writes. */
import { Buffer } from "node:buffer";
import type { Identity } from "../../agents/agent_records.ts";
import { refuseForgotten, type SignatureUse } from "../../agents/signature_use.ts";
import { rateLimited } from "../../../base/errors.ts";
import type { Limits } from "../../../base/config/limits.ts";
import { inKey, type InRecord, outKey, type OutRecord } from "../../mailboxes/agent_mailboxes.ts";
import { retainBytes } from "../../mailboxes/retained_bytes.ts";
import { admit } from "../../../base/bounds/rate_window.ts";
import {
  type Job,
  Outdated,
  type Transaction,
} from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../../base/storage/rows/store.ts";
import { cutIntoPieces, formOf } from "../rows/message_row.ts";
import type { RecentMessages } from "../rows/recent_messages.ts";
import { decodeRow } from "../rows/row_codec.ts";
import type { AcceptedSends, FoundUse } from "./accepted_sends.ts";
import type { AddressBytes, ReservedBytes } from "./address_bytes.ts";
import type { Receipt, SendAnswer, SendUseRow } from "./send_answer.ts";
import { recipientBanned, refuseSender } from "./send_refusals.ts";
import type { SendRequest } from "../rows/send_request.ts";
import { stageMessage } from "./stage_message.ts";
import { encodeUse } from "./use_group.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

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
  /** Run as soon as it is clear that the sender may send, before any other refusal. @throws to refuse */
  decide(transaction: Transaction): void;
  write(transaction: Transaction, receipt: Receipt): void;
}

/** What the commits of all sends have in common. */
export interface SendJobContext {
  records: RecordCache;
  limits: Limits;
  recent: RecentMessages;
  addressBytes: AddressBytes;
  accepted: AcceptedSends;
  /** Where this process alone writes it, signatures stand in rows of many sends. */
  store: Pick<Store, "exclusive" | "floor" | "now">;
  /** A send was stored, its signature in this row: told before its caller hears of it. */
  learn(send: Send, row: Deno.KvKey): void;
}

/**
 * @param found what the rows that may hold the signature had of it: no answer
 * @returns the job, and the bytes of its client address, to be given back after it
 */
export function makeSendJob(
  send: Send,
  found: FoundUse,
  context: SendJobContext,
): { job: Job<SendAnswer>; reserved: ReservedBytes } {
  const { sender, recipient, request, use } = send;
  const { records, limits, recent, accepted, store } = context;
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
  const reserved = context.addressBytes.of(send.addressHash, sizeBytes);
  /** What each attempt stores, by its id. */
  const planned = new Map<string, { receipt: Receipt; previousId: number; bytes: Uint8Array }>();
  const job: Job<SendAnswer> = {
    records: [outKey(sender.id), inKey(recipient.id)],
    sizeBytes: sizeBytes + 1_500,
    // Replay 5
    findResult: async () => {
      const { answer } = await accepted.find(sender.id, use);
      if (answer === null) return undefined;
      // A ban stands before the repetition of an answer.
      const out = await records.read<OutRecord>(outKey(sender.id));
      refuseSender(out!, send.bearer);
      return planned.get(answer.attempt)?.receipt ?? answer; // ours, where its commit came late
    },
    plan: (transaction) => {
      // Where memory alone says that the signature is new.
      if (store.exclusive && accepted.isOutdated(use, found)) throw new Outdated();
      const out = transaction.record<OutRecord>(outKey(sender.id))!;
      const inbox = transaction.record<InRecord>(inKey(recipient.id))!;
      refuseSender(out, send.bearer); // Check 10
      send.extension?.decide(transaction); // Replay 2, again
      refuseForgotten(store, use); // Check 11
      if (inbox.banned) throw recipientBanned(); // Check 12
      // Check 13
      const charged = chargeSender(out, sizeBytes, transaction.nowMs, limits);
      reserved.reserve(transaction.nowMs); // Check 14
      const id = transaction.allocateId(Math.max(out.head, inbox.head));
      const createdAtMs = transaction.nowMs;

      const { contentHash } = request;
      const { attempt } = transaction;
      const usedKey = accepted.rowOf(sender.id, use, transaction);
      if (store.exclusive) {
        transaction.append(usedKey, encodeUse({ ...use, agentId: sender.id, id, contentHash }));
      } else {
        transaction.requireAbsent(usedKey);
        const row: SendUseRow = { v: 1, attempt, use: "send", id, contentHash, createdAtMs };
        transaction.set(usedKey, row);
      }
      transaction.putRecord(inKey(recipient.id), { ...inbox, head: id });
      // A message to oneself: both records belong to one agent, and are written one after the other.
      transaction.putRecord(outKey(sender.id), { ...out, ...charged, head: id });
      const bytes = stageMessage(transaction, {
        id,
        createdAtMs,
        envelope,
        form,
        rawPieces,
        expireInMs,
      });
      const receipt: Receipt = {
        kind: "sent",
        attempt,
        id,
        contentHash,
        createdAtMs,
        sender,
        recipient,
        notify: inbox.notify,
      };
      send.extension?.write(transaction, receipt);
      planned.set(attempt, { receipt, previousId: inbox.head, bytes });
      return receipt;
    },
    committed: ({ attempt, id, createdAtMs }) => {
      const { previousId, bytes } = planned.get(attempt)!;
      reserved.count();
      recent.add(recipient.id, previousId, id, decodeRow(bytes));
      context.learn(send, accepted.rowOf(sender.id, use, { attempt, nowMs: createdAtMs }));
    },
  };
  return { job, reserved };
}

/** What a sender's record says after one more message. @throws RelayError `rate_limited` */
function chargeSender(
  { sends, retained }: OutRecord,
  sizeBytes: number,
  nowMs: number,
  { sendsPerAgentPerMinute, retainedBytesPerSender, retentionDays }: Limits,
): Pick<OutRecord, "sends" | "retained"> {
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
