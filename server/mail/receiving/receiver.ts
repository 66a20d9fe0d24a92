// Over 300 lines: the way of one message, whose steps lean on each other, read from top to bottom.
/**
 * The one way in for mail: from a gateway, an SMTP server, local mode or another inbox of the relay.
 * A message is stored once for each inbox; what the sender hears rests on commits alone.
 *
 * In order: who has an inbox, the repetition of a former message, what can be refused unread, then
 * parsing and the checks of its sender, once for all inboxes, then each inbox's lists, and a commit
 * that decides again what may have changed meanwhile. What is refused counts apart from what an inbox
 * takes (docs/adr/0039): no sender can use up an inbox's rate by mail that it refuses.
 */
import { base64urlnopad } from "@scure/base";
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { type ErrorCode, RelayError, unavailable } from "../../base/errors.ts";
import { sha256Of } from "../../base/slices/sha256_of.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { valueSizeBytes } from "../../base/storage/rows/stored_size.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import { authOfShownFrom } from "./sender_checks/fixed_auth.ts";
import type { Party } from "./sender_checks/next_check.ts";
import type { Auth } from "./sender_checks/part.ts";
import { count } from "../records/figures_record.ts";
import type { Mailbox, MailboxTransaction } from "../core/mailboxes.ts";
import { stageEvent } from "../core/stage_event.ts";
import { fitsQuota, storageKey } from "../core/storage_quota.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { findThread, readThread } from "../mailbox/messages/find_thread.ts";
import { countFitting } from "../reading/parsed/fit_lists.ts";
import type { ReadMailResult } from "../reading/read_mail.ts";
import { identify, type NewMessage, stageMessage } from "../mailbox/messages/stage_message.ts";
import type { MailAuth, MessageRow } from "../records/message_record.ts";
import { sectionsOf } from "../reading/parsed/encoded_texts.ts";
import { rfcIdKey, type ThreadRow } from "../records/thread_record.ts";
import { ClientRate, isCounted } from "./client_rate.ts";
import type { Destinations } from "./destinations.ts";
import { ListChecks } from "./list_checks.ts";
import { mailSource } from "./mail_source.ts";
import {
  type AnnouncedMail,
  cameBytes,
  isTemporary,
  type Outcome,
  type ReceivedMail,
  type RefusedCode,
} from "./received_mail.ts";
import { type Previewed, previewRecipient } from "./preview_recipient.ts";
import { type Recipient, Recipients, refusalLimit } from "./recipients.ts";
import { RefusalWindows } from "./refusal_windows.ts";
import { isRefusedByLists } from "./refused_by_lists.ts";
import { Refused } from "./refused.ts";
import { isRepeat, readRepeat, repeatKeyOf, stageRepeat } from "./repeats.ts";

export interface ReceiverServices extends MailCore {
  /** Finds out about a message's sender, off the main thread. */
  auth: Pick<Auth, "check">;
  destinations: Pick<Destinations, "find" | "preview">;
}

/**
 * Keeps the outcomes of a message in a commit that is made anyway. Part of a plan, so it is called again
 * whenever the plan is.
 * @param outcomes as they are if it is committed
 */
export type StageOutcomes<Staged> = (
  transaction: Transaction,
  outcomes: readonly Outcome[],
) => Staged;

/** An inbox that a message is for. */
interface Target extends Recipient {
  /** Addresses of the envelope that led to it. */
  spellings: string[];
  /** The inbox's own ones: an address of bounces is not one, and is never shown. */
  to: string[];
  /** The message whose thread it joins whatever it says itself: named by an address of bounces. */
  about: MessageRow | null;
}

/** What else is counted and kept of a message. */
interface Bookkeeping<Staged> {
  client: ClientRate;
  lists: ListChecks;
  stage: (transaction: Transaction) => Staged | null;
}

/** What stage() returned in a commit; null for a repetition of what another request has stored meanwhile. */
type Stored<Staged> = { staged: Staged | null } | null;

/** What a change of a mailbox says when its inbox, or its org, has gone meanwhile. */
const GONE: readonly ErrorCode[] = ["not_found", "unknown_key"];

export class Receiver {
  readonly #refusals: RefusalWindows;
  readonly #recipients: Recipients;
  readonly #refusedBefore = new WeakSet<AnnouncedMail>();

  constructor(private readonly services: ReceiverServices) {
    this.#refusals = new RefusalWindows(services.store.now);
    this.#recipients = new Recipients(services);
  }

  /** As previewRecipient(). */
  async preview(envelope: AnnouncedMail, address: string): Promise<Previewed> {
    const refusals = this.#refusals;
    const [recipients, refusedBefore] = [this.#recipients, this.#refusedBefore];
    const parts = { refusals, recipients, refusedBefore, client: this.#rateOf(envelope) };
    return await previewRecipient({ ...this.services, ...parts }, envelope, address);
  }

  #rateOf({ clientIp }: Pick<ReceivedMail, "clientIp">): ClientRate {
    const { now } = this.services.store;
    return new ClientRate({ ...this.services, now, refusals: this.#refusals }, clientIp);
  }

  /**
   * Stores a message for everyone of its envelope who takes it.
   * @param stage keeps the outcomes, in the last commit where that decides them
   * @returns the outcome for each address, in their order, and what stage() returned in the commit that
   * was made; null where none called it
   * @throws RelayError `unavailable` where the sender has to try again: what was stored meanwhile is
   * then found as a repetition
   */
  async receive<Staged = null>(
    mail: ReceivedMail,
    stage?: StageOutcomes<Staged>,
  ): Promise<{ outcomes: Outcome[]; staged: Staged | null }> {
    const received = await this.#receive(mail, stage);
    this.services.onReceived?.({ ...mail, outcomes: received.outcomes });
    return received;
  }

  async #receive<Staged = null>(
    mail: ReceivedMail,
    stage?: StageOutcomes<Staged>,
  ): Promise<{ outcomes: Outcome[]; staged: Staged | null }> {
    let staged: Staged | null = null;
    const outcomes = new Map<string, Outcome>();
    const decide = (
      addresses: readonly string[],
      code: RefusedCode | null,
      retryAfterMs?: number,
    ) => {
      for (const address of addresses) {
        outcomes.set(address, code === null ? { address, code } : { address, code, retryAfterMs });
      }
    };
    const targets = await this.#targetsOf(mail, (outcome) => {
      outcomes.set(outcome.address, outcome);
    });
    const inOrder = () => mail.to.map((address) => outcomes.get(address)!);
    const content = await sha256Of(mail.raw);
    const isAsItCame = (mail.traceBytes ?? 0) === 0;
    const repeatKey = await repeatKeyOf(mail, isAsItCame ? content : undefined);
    const open: Target[] = [];
    const lists = new ListChecks(mail, this.#refusals);
    const client = this.#rateOf(mail);
    try {
      for (const target of targets) {
        const early = await this.#recipients.decideUnread(
          target,
          mail.raw.length,
          lists,
          () => this.#findRepeat(target, mail, repeatKey),
        );
        if (early === undefined) open.push(target);
        else decide(target.spellings, early?.code ?? null, early?.retryAfterMs);
      }
      if (open.length > 0) await client.look();
      if (open.length > 0 && client.refused === null) {
        await this.services.blobs.refuseWhenFull();
        const party = { org: open[0]!.org.id, source: mailSource(mail) };
        const read = { ...await this.#read(mail, party), sha256: base64urlnopad.encode(content) };
        for (const target of open) {
          if (client.refused !== null) break;
          // All others are decided: what the last commit stores is all that is left to know.
          const isLast = target === open.at(-1) && ![...outcomes.values()].some(isTemporary);
          const stored = await this.#store(target, mail, read, repeatKey, {
            client,
            lists,
            stage(transaction) {
              if (stage === undefined || !isLast) return null;
              decide(target.spellings, null);
              return stage(transaction, inOrder());
            },
          });
          if (stored instanceof Refused) decide(target.spellings, stored.code, stored.retryAfterMs);
          else {
            decide(target.spellings, null);
            staged = stored;
          }
        }
      }
    } finally {
      lists.done();
      client.done();
    }
    if ([...outcomes.values()].some(({ code }) => isCounted(code))) client.countRefused();
    const { refused } = client;
    for (const { spellings } of refused === null ? [] : open) {
      const left = spellings.filter((address) => !outcomes.has(address));
      decide(left, "rate_limited", refused!.retryAfterMs);
    }
    return { outcomes: inOrder(), staged };
  }

  /** @param decide called with the outcome of addresses for which no inbox stores anything */
  async #targetsOf(mail: ReceivedMail, decide: (outcome: Outcome) => void): Promise<Target[]> {
    const { destinations } = this.services;
    const targets = new Map<string, Target>();
    for (const address of mail.to) {
      const destination = await destinations.find(address, mail);
      if (destination !== null && "code" in destination) {
        decide({ address, ...destination });
        continue;
      }
      const about = destination?.about ?? null;
      const found = await this.#recipients.find(address, about);
      if (found === null) {
        decide({ address, code: "not_found" });
        continue;
      }
      const { inbox } = found;
      const target = targets.get(inbox.id) ?? { ...found, spellings: [], to: [], about };
      target.spellings.push(address);
      if (about === null) target.to.push(address);
      target.about ??= about;
      targets.set(inbox.id, target);
    }
    return [...targets.values()];
  }

  async #findRepeat(
    { inbox, org }: Target,
    { to }: ReceivedMail,
    repeatKey: string,
  ): Promise<boolean> {
    const { store } = this.services;
    const ref = { orgId: org.id, inboxId: inbox.id };
    const repeat = await readRepeat(store, ref, repeatKey);
    if (!isRepeat(store, repeat)) return false;
    // Another recipient may keep the sender trying for days: this one is not to have it again.
    const isOld = store.now() - repeat.atMs > HOUR_MS ||
      store.lived() - (repeat.livedMs ?? 0) > HOUR_MS;
    if (to.length > 1 && isOld) await this.#renew(ref, repeatKey);
    return true;
  }

  async #renew(
    ref: Pick<NewMessage, "orgId" | "inboxId">,
    repeatKey: string,
  ): Promise<void> {
    const { mailboxes, store } = this.services;
    await mailboxes.change<void>(ref.orgId, ref.inboxId, async () => {
      const former = await readRepeat(store, ref, repeatKey);
      return {
        plan({ transaction, mailbox }) {
          stageRepeat(transaction, ref, repeatKey, former);
          return { mailbox, result: undefined };
        },
      };
    });
  }

  async #read(
    mail: ReceivedMail,
    party: Party,
  ): Promise<ReadMailResult & { auth: MailAuth }> {
    const { reader, auth: checks, limits } = this.services;
    const { raw, from: envelopeFrom, clientIp, clientHelo: helo } = mail;
    const [read, found] = await Promise.all([
      reader.read(raw, {
        envelopeFrom,
        limits: { parts: limits.mailParts, depth: limits.mailDepth },
      }, party.org),
      mail.auth === undefined
        ? checks.check(cameBytes(mail), { clientIp, helo, envelopeFrom }, party)
        : { auth: mail.auth, isReplyToUnsigned: false },
    ]);
    const { facts } = read;
    const auth = authOfShownFrom(found.auth, facts);
    if (!found.isReplyToUnsigned || auth.verdict !== "pass") return { ...read, auth };
    const parseWarnings = [...facts.parseWarnings, "reply_to_unsigned" as const];
    return { ...read, facts: { ...facts, parseWarnings }, auth };
  }

  /** @returns why it was not stored; where it was, what its commit has staged */
  async #store<Staged>(
    { inbox, org, to, about }: Target,
    mail: ReceivedMail,
    { facts, auth, sha256, ...texts }: ReadMailResult & { auth: MailAuth; sha256: string },
    repeatKey: string,
    bookkeeping: Bookkeeping<Staged>,
  ): Promise<Refused | Staged | null> {
    const isRefused = isRefusedByLists(inbox, mail.from, facts.from?.address ?? null, auth);
    const { blobs, inboxes, limits } = this.services;
    if (isRefused !== false) bookkeeping.lists.count(inbox, refusalLimit(org, limits));
    if (isRefused === "unknown") {
      bookkeeping.client.countRefused();
      throw unchecked();
    }
    if (isRefused) return new Refused("blocked");
    const blob = await blobs.write([org.id, inbox.id], sectionsOf(mail.raw, texts), [sha256]);
    const message: NewMessage = {
      ...facts,
      orgId: org.id,
      inboxId: inbox.id,
      direction: "inbound",
      envelope: {
        from: mail.from,
        to: fitSpellings(to.length > 0 ? to : [inboxes.addressOf(inbox)]),
      },
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
    try {
      const stored = await this.#commit(message, about, bookkeeping);
      if (stored === null) await blobs.discard(blob);
      else bookkeeping.client.counted();
      return stored?.staged ?? null;
    } catch (error) {
      // A commit whose outcome is unknown may have kept it; the sweep finds the blobs that none kept.
      if (error instanceof Refused) await blobs.discard(blob);
      else if (error instanceof RelayError && GONE.includes(error.code)) {
        await blobs.discard(blob);
        return new Refused("not_found");
      }
      if (!(error instanceof Refused)) throw error;
      return error;
    }
  }

  async #commit<Staged>(
    message: NewMessage,
    about: MessageRow | null,
    { client, stage }: Bookkeeping<Staged>,
  ): Promise<Stored<Staged>> {
    const { mailboxes, store, random } = this.services;
    const { orgId, inboxId, rfcMessageId } = message;
    return await mailboxes.change<Stored<Staged>>(orgId, inboxId, async (found) => {
      // Together: each waits for the commits before it.
      const [former, thread, rfcId] = await Promise.all([
        readRepeat(store, message, message.repeatKey!),
        this.#threadOf(message, about),
        rfcMessageId === null ? null : store.get(rfcIdKey(orgId, inboxId, rfcMessageId)),
      ]);
      if (isRepeat(store, former)) {
        return { plan: ({ mailbox }) => ({ mailbox, result: null }) };
      }
      const isFirstOfRfcId = rfcId !== null && rfcId.value === null;
      const row = identify(found, message, thread, { nowMs: store.now(), random });
      return {
        sizeBytes: valueSizeBytes(row),
        plan: (given) => {
          const mailbox = this.#admitInCommit(given, message.blob);
          client.stage(given.transaction);
          count(given.transaction, orgId, given.transaction.nowMs, { received: 1 });
          stageRepeat(given.transaction, message, message.repeatKey!, former);
          const added = stageMessage({ ...given, mailbox }, this.services, row, {
            thread,
            isFirstOfRfcId,
          });
          const told = { message: row, thread: added.thread };
          stageEvent(given.transaction, given.org, "message.received", told, random);
          return { mailbox: added.mailbox, result: { staged: stage(given.transaction) } };
        },
      };
    });
  }

  async #threadOf(message: NewMessage, about: MessageRow | null): Promise<ThreadRow | null> {
    const store = this.services.store;
    const { orgId, inboxId } = message;
    return about !== null && await readThread(store, orgId, inboxId, about.threadId) ||
      await findThread(store, orgId, inboxId, message);
  }

  /** What was decided before the message was read, decided again on what the commit finds. */
  #admitInCommit({ transaction, org, mailbox }: MailboxTransaction, blob: BlobRef): Mailbox {
    const { limits } = this.services;
    if (org.suspendedAtMs !== null) throw new Refused("org_suspended");
    const bytes = blob.sections.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (!fitsQuota(transaction.record(storageKey(org.id)), bytes, org, transaction.nowMs, limits)) {
      throw new Refused("over_quota");
    }
    const window = this.#recipients.admit(
      mailbox,
      org,
      blob.sections[0]!.sizeBytes,
      transaction.nowMs,
    );
    if (window instanceof Refused) throw window;
    return { ...mailbox, ...window };
  }
}

/** Bytes of the envelope's recipients that a row keeps. */
const SPELLINGS_BYTES = 4 * 1024;

/** The first spelling of an inbox in an envelope. */
function fitSpellings(spellings: readonly string[]): readonly string[] {
  return spellings.slice(0, Math.max(1, countFitting(spellings, SPELLINGS_BYTES).count));
}

/** DNS did not answer: an inbox that hears from known senders alone cannot tell yet. */
function unchecked(): RelayError {
  return unavailable(
    "the sender of this message could not be checked now; hand it in again later",
    MINUTE_MS,
  );
}
