/**
 * The one way in for mail: from a gateway, an SMTP server, local mode or another inbox of the relay.
 * A message is stored once for each inbox; what the sender hears rests on commits alone.
 *
 * In order: who has an inbox, what can be refused unread, the repetition of a former message, then
 * parsing and the checks of its sender, once for all inboxes, then each inbox's lists, and a commit
 * that decides again what may have changed meanwhile.
 */
import type { BlobRef, Blobs } from "../../blobs/blobs.ts";
import { RelayError } from "../../errors.ts";
import { hashClientAddress } from "../../http/client_address.ts";
import type { Limits } from "../../limits.ts";
import { admit } from "../../rate_window.ts";
import { retryWhileLocked } from "../../storage/lock_retry.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { RecordKey } from "../../storage/record_key.ts";
import type { Store } from "../../storage/store.ts";
import { EXPIRY_MARGIN_MS } from "../../storage/store.ts";
import { stageWindow, windowKey, type WindowRecord } from "../../storage/window_record.ts";
import { DAY_MS, HOUR_MS } from "../../time_units.ts";
import { authOfShownFrom } from "../auth/fixed_auth.ts";
import { countNow, figureRecords } from "../figures/figures_record.ts";
import { isListed } from "../inboxes/address_list.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import type { Mailbox, Mailboxes, MailboxTurn } from "../mailboxes/mailboxes.ts";
import { hasRoom, storageKey, type StorageRecord } from "../mailboxes/storage_use.ts";
import { findThread } from "../messages/find_thread.ts";
import type { ReadMail, ReadMailResult } from "../parsing/read_mail.ts";
import { identify, type NewMessage, stageMessage } from "../messages/stage_message.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MailAuth, MessageRow } from "../records/message_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { rfcIdKey } from "../records/thread_record.ts";
import type { Outcome, ReceivedMail, RefusedCode } from "./received_mail.ts";
import { repeatKeyOf, type RepeatRow, repeatRowKey } from "./repeats.ts";

export interface ReceiverServices {
  store: Store;
  records: RecordCache;
  limits: Limits;
  random: (sizeBytes: number) => Uint8Array;
  inboxes: Inboxes;
  mailboxes: Mailboxes;
  blobs: Blobs;
  /** Parses off the main thread. @throws RelayError `unavailable` where too much waits */
  readMail: ReadMail;
  /** Finds out about a message's sender, off the main thread. */
  checkAuth(mail: ReceivedMail): Promise<MailAuth>;
  /** Secret under which client addresses are hashed, 32 bytes. */
  addressKey: Uint8Array;
}

/** An inbox that a message is for, and how the envelope spells it. */
interface Target {
  inbox: Inbox;
  org: OrgRecord;
  spellings: string[];
}

/** Thrown within a commit: this inbox does not take the message. */
class Refused extends Error {
  constructor(readonly code: RefusedCode, readonly retryAfterMs?: number) {
    super(code);
  }
}

const JOB_BYTES = 60_000;

export class Receiver {
  constructor(private readonly services: ReceiverServices) {}

  /**
   * Stores a message for everyone of its envelope who takes it.
   * @returns what became of each address, in their order
   * @throws RelayError `unavailable` where the sender has to try again: what was stored meanwhile is
   * then found as a repetition
   */
  async receive(mail: ReceivedMail): Promise<Outcome[]> {
    const outcomes = new Map<string, Outcome>();
    const settle = (
      addresses: readonly string[],
      code: RefusedCode | null,
      retryAfterMs?: number,
    ) => {
      for (const address of addresses) {
        outcomes.set(address, code === null ? { address, code } : { address, code, retryAfterMs });
      }
    };
    const { targets, unknown } = await this.#targetsOf(mail.to);
    settle(unknown, "not_found");
    const repeatKey = await repeatKeyOf(mail);
    const open: Target[] = [];
    for (const target of targets) {
      const early = await this.#decideUnread(target, mail, repeatKey);
      if (early === undefined) open.push(target);
      else settle(target.spellings, early?.code ?? null, early?.retryAfterMs);
    }
    if (open.length > 0) {
      await this.services.blobs.refuseWhenFull();
      const read = await this.#read(mail);
      for (const [index, target] of open.entries()) {
        const refused = await this.#store(target, mail, read, repeatKey, index === 0);
        settle(target.spellings, refused?.code ?? null, refused?.retryAfterMs);
      }
    }
    return mail.to.map((address) => outcomes.get(address)!);
  }

  async #targetsOf(addresses: readonly string[]) {
    const { inboxes, records, limits, store } = this.services;
    const targets = new Map<string, Target>();
    const unknown: string[] = [];
    for (const address of addresses) {
      const inbox = await inboxes.byAddress(address);
      const known = inbox === null ? undefined : targets.get(inbox.id);
      if (known !== undefined) {
        known.spellings.push(address);
        continue;
      }
      const org = inbox === null ? null : await records.read<OrgRecord>(orgKey(inbox.orgId));
      if (inbox === null || org === null || orgState(org, store.now(), limits) === "gone") {
        unknown.push(address);
      } else targets.set(inbox.id, { inbox, org, spellings: [address] });
    }
    return { targets: [...targets.values()], unknown };
  }

  /** What needs no look into the message. @returns null: accepted; undefined: to be read */
  async #decideUnread(
    { inbox, org }: Target,
    mail: ReceivedMail,
    repeatKey: string,
  ): Promise<Refused | null | undefined> {
    const { records, limits, store } = this.services;
    const nowMs = store.now();
    if (org.suspendedAtMs !== null) return new Refused("org_suspended");
    // Taken and dropped: the inbox is there again when the org is claimed, and tells nobody of it.
    if (orgState(org, nowMs, limits) === "expired") return null;
    if (await this.#isRepeated(inbox, repeatKey)) return null;
    const stored = await records.read<StorageRecord>(storageKey(org.id));
    if (!hasRoom(stored, mail.raw.length, org, nowMs, limits)) return new Refused("over_quota");
    const mailbox = await this.services.mailboxes.read(org.id, inbox.id);
    const window = this.#admit(mailbox, org, mail.raw.length, nowMs);
    return window instanceof Refused ? window : undefined;
  }

  async #isRepeated(
    { orgId, id }: Pick<Inbox, "orgId" | "id">,
    repeatKey: string,
  ): Promise<boolean> {
    const { store } = this.services;
    const key = repeatRowKey(orgId, id, repeatKey);
    const { value } = await retryWhileLocked(() => store.kv.get<RepeatRow>(key));
    return value !== null && store.now() - value.atMs < DAY_MS;
  }

  #admit(
    mailbox: Mailbox,
    { trialEndsAtMs }: OrgRecord,
    bytes: number,
    nowMs: number,
  ): Pick<Mailbox, "received" | "receivedBytes"> | Refused {
    const { limits } = this.services;
    const perHour = trialEndsAtMs === null
      ? limits.mailInboundPerInboxPerHour
      : limits.mailInboundPerTrialInboxPerHour;
    const received = admit(mailbox.received, nowMs, { limit: perHour, windowMs: HOUR_MS });
    if ("retryAfterMs" in received) return new Refused("rate_limited", received.retryAfterMs);
    const rule = { limit: limits.mailInboundBytesPerInboxPerHour, windowMs: HOUR_MS };
    const receivedBytes = admit(mailbox.receivedBytes, nowMs, rule, bytes);
    if ("retryAfterMs" in receivedBytes) {
      return new Refused("rate_limited", receivedBytes.retryAfterMs);
    }
    return { received: received.window, receivedBytes: receivedBytes.window };
  }

  async #read(mail: ReceivedMail): Promise<ReadMailResult & { auth: MailAuth }> {
    const { readMail, checkAuth, limits } = this.services;
    const [read, auth] = await Promise.all([
      readMail(mail.raw, {
        envelopeFrom: mail.from,
        limits: { parts: limits.mailParts, depth: limits.mailDepth },
      }),
      mail.auth ?? checkAuth(mail),
    ]);
    return { ...read, auth: authOfShownFrom(auth, read.facts.from) };
  }

  /** @returns why it was not stored, null where it was */
  async #store(
    { inbox, org, spellings }: Target,
    mail: ReceivedMail,
    { facts, head, rest, auth }: ReadMailResult & { auth: MailAuth },
    repeatKey: string,
    countsForClient: boolean,
  ): Promise<Refused | null> {
    if (isRefusedByLists(inbox, mail.from, facts.from?.address ?? null, auth)) {
      return new Refused("blocked");
    }
    const { blobs } = this.services;
    const blob = await blobs.write([org.id, inbox.id], [mail.raw, head, rest]);
    const message: NewMessage = {
      ...facts,
      orgId: org.id,
      inboxId: inbox.id,
      direction: "inbound",
      envelope: { from: mail.from, to: spellings },
      auth,
      bcc: [],
      recipients: [],
      sendAtMs: null,
      cancelledAtMs: null,
      labels: [],
      read: false,
      blob,
      repeatKey,
    };
    const clientKey = countsForClient ? this.#clientKey(mail.clientIp) : null;
    try {
      const row = await this.#commit(message, clientKey);
      if (row === null) await blobs.discard(blob);
      return null;
    } catch (error) {
      // A commit whose outcome is unknown may have kept it; the sweep finds those that nobody did.
      if (error instanceof Refused) await blobs.discard(blob);
      else if (error instanceof RelayError && error.code === "not_found") {
        await blobs.discard(blob);
        return new Refused("not_found");
      }
      if (!(error instanceof Refused)) throw error;
      return error;
    }
  }

  #clientKey(clientIp: string | null): RecordKey<WindowRecord> | null {
    if (clientIp === null) return null;
    return windowKey("mail-client", hashClientAddress(this.services.addressKey, clientIp));
  }

  /** @returns null for a repetition of what another request has stored meanwhile */
  async #commit(
    message: NewMessage,
    clientKey: RecordKey<WindowRecord> | null,
  ): Promise<MessageRow | null> {
    const { mailboxes, store: { kv, now }, limits, random } = this.services;
    const { orgId, inboxId, rfcMessageId } = message;
    return await mailboxes.change<MessageRow | null>(orgId, inboxId, async (found) => {
      const repeated = await this.#isRepeated({ orgId, id: inboxId }, message.repeatKey!);
      if (repeated) {
        return { sizeBytes: 1_000, plan: ({ mailbox }) => ({ mailbox, result: null }) };
      }
      const thread = await findThread(kv, orgId, inboxId, message);
      const isFirstOfRfcId = rfcMessageId !== null &&
        (await retryWhileLocked(() => kv.get(rfcIdKey(orgId, inboxId, rfcMessageId)))).value ===
          null;
      const nowMs = now();
      const row = identify(found, message, thread, { nowMs, random });
      return {
        records: [
          storageKey(orgId),
          ...figureRecords(orgId, nowMs),
          ...(clientKey === null ? [] : [clientKey]),
        ],
        sizeBytes: JOB_BYTES,
        plan: (given) => {
          const mailbox = this.#admitInCommit(given, message.blob);
          if (clientKey !== null) {
            const rule = { limit: limits.mailInboundPerClientPerHour, windowMs: HOUR_MS };
            stageWindow(given.turn, clientKey, rule, (ms) => new Refused("rate_limited", ms));
          }
          countNow(given.turn, orgId, nowMs, { received: 1 });
          const repeatKey = repeatRowKey(orgId, inboxId, message.repeatKey!);
          const repeat: RepeatRow = { v: 1, atMs: given.turn.nowMs };
          given.turn.set(repeatKey, repeat, DAY_MS + EXPIRY_MARGIN_MS);
          const added = stageMessage({ ...given, mailbox }, this.services, row, {
            thread,
            isFirstOfRfcId,
          });
          return { mailbox: added.mailbox, result: row };
        },
      };
    });
  }

  /** What was decided before the message was read, decided again on what the commit finds. */
  #admitInCommit({ turn, org, mailbox }: MailboxTurn, blob: BlobRef): Mailbox {
    const { limits } = this.services;
    if (org.suspendedAtMs !== null) throw new Refused("org_suspended");
    const bytes = blob.sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (!hasRoom(turn.record(storageKey(org.id)), bytes, org, turn.nowMs, limits)) {
      throw new Refused("over_quota");
    }
    const window = this.#admit(mailbox, org, blob.sections[0]!.sizeBytes, turn.nowMs);
    if (window instanceof Refused) throw window;
    return { ...mailbox, ...window };
  }
}

/** Whether an inbox's lists keep a message out (mail page, "Inboxes"). Pure. */
export function isRefusedByLists(
  { entries }: Pick<Inbox, "entries">,
  envelopeFrom: string,
  from: string | null,
  auth: Pick<MailAuth, "verdict">,
): boolean {
  const senders = [envelopeFrom, from ?? ""].filter((one) => one !== "").map((one) =>
    one.toLowerCase()
  );
  if (senders.some((one) => isListed(entries.block_receive, one))) return true;
  if (entries.allow_receive.length === 0) return false;
  const isAllowed = from !== null && isListed(entries.allow_receive, from.toLowerCase());
  return !isAllowed || auth.verdict !== "pass";
}
