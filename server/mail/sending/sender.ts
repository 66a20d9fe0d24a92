// Over 300 lines: what is refused before composing and what the one commit decides again stand side by side.
/**
 * Accepts messages of inboxes (docs/mail.md): what is refused is refused before anything is
 * composed, and decided again in the one commit that stores message, mails to be delivered, counts and
 * the answer under an Idempotency-Key.
 */
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { rateLimited, RelayError } from "../../base/errors.ts";
import { admitOrRefuse, type Window } from "../../base/bounds/rate_window.ts";
import { valueSizeBytes } from "../../base/storage/rows/stored_size.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import type { DkimKey } from "../composing/sign_dkim.ts";
import { stageMails } from "../mailbox/statuses/queued_mail.ts";
import { nothingInFlight } from "../mailbox/statuses/sends_in_flight.ts";
import { count } from "../records/figures_record.ts";
import { maySee } from "../access/access.ts";
import { cleanEmail } from "../records/email_address.ts";
import { isListed } from "../mailbox/inboxes/address_list.ts";
import type { Mailbox, MailboxTransaction } from "../core/mailboxes.ts";
import { fitsQuota, overQuota, storageKey } from "../core/storage_quota.ts";
import type { WrittenBlobs } from "../core/written_blobs.ts";
import { readThread } from "../mailbox/messages/find_thread.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { markedMessage, wholeMessageJson } from "../mailbox/shown/shown_message.ts";
import {
  identify,
  type NewMessage,
  stageMessage,
  storedBytes,
} from "../mailbox/messages/stage_message.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MailKey } from "../records/key_record.ts";
import { makeUlid } from "../records/mail_id.ts";
import { type MessageRow, RAW, type Recipient } from "../records/message_record.ts";
import { sectionsOf } from "../reading/parsed/encoded_texts.ts";
import type { OrgRecord } from "../records/org_record.ts";
import type { StoredAnswer } from "../records/stored_answer.ts";
import type { ThreadRow } from "../records/thread_record.ts";
import type { Suppressions } from "../mailbox/suppressions/suppressions.ts";
import { fitSentLists } from "./fit_sent_lists.ts";
import type { KeyedWork } from "../mailbox/answers/keyed_answers.ts";
import { refuseLoop } from "./loop_limit.ts";
import type { SendRequest } from "../composing/requests/read_send.ts";
import { takeRecipientQuota } from "./recipient_quota.ts";

/** A message that somebody who may send wants sent. */
export interface MessageToSend extends SendRequest {
  /** Without brackets. */
  inReplyTo: string | null;
  references: readonly string[];
  autoSubmitted: "auto-replied" | null;
  /** The message that it answers or forwards, whose thread it joins. */
  about: MessageRow | null;
}

/** The one who sends a message: the holder of a key, or a person who was let in otherwise. */
export interface SendingParty {
  org: OrgRecord;
  key: MailKey | null;
}

/** What else the commit of a message does, such as taking a draft away. */
export interface MessageExtras {
  /** Reads rows of the inbox that plan() rests on; they still hold when it is called. */
  prepare(): Promise<void>;
  /** An answer that showed what the message was before. */
  answer?(): StoredAnswer | undefined;
  /** Called first. @returns the guard as it is left @throws RelayError to refuse */
  plan(given: MailboxTransaction, row: MessageRow): Mailbox;
}

export interface SenderServices extends MailCore {
  written: WrittenBlobs;
  suppressions: Suppressions;
  /** Composes, and reads back what was composed; not the worker that reads mail of strangers. */
  composer: Pick<MailWorker, "composeAndRead">;
  dkim: DkimKey | null;
}

/** A message that is composed, and whose bytes are stored. */
interface MadeMessage {
  message: NewMessage;
  raw: Uint8Array<ArrayBuffer>;
  rest: Uint8Array;
  written: BlobRef[];
}

const BOUNDARY_BYTES = 16;
/** Own messages of a thread that are looked at to cut a loop. */
const LOOP_MESSAGES = 50;

export class Sender {
  constructor(private readonly services: SenderServices) {}

  /**
   * Accepts a message.
   * @param keyed of its Idempotency-Key
   * @param writtenByKey the key that wrote all of it; the one that sends it, unless given
   * @param draftId the draft that it was
   * @returns the answer: the message as accepted, JSON; its marks where the key may not see it
   * @throws RelayError `recipient_not_allowed`, `recipient_suppressed`, `rate_limited`, `unavailable`, and
   * as requireCaller()
   */
  async send(
    by: SendingParty,
    inbox: Inbox,
    message: MessageToSend,
    { keyed, extras, writtenByKey = by.key?.id ?? null, draftId }: {
      keyed?: KeyedWork;
      extras?: MessageExtras;
      writtenByKey?: string | null;
      draftId?: string;
    } = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { org } = by;
    await this.check(org, inbox, message);
    const addresses = recipientsOf(message);
    const made = await this.#make(org, inbox, message, addresses);
    if (writtenByKey !== null) made.message = { ...made.message, writtenByKey };
    if (draftId !== undefined) made.message = { ...made.message, draftId };
    const { blobs } = this.services;
    const { blob, recipients } = made.message;
    // What is to leave at once needs no second look at the disk.
    blobs.lend(blob, RAW, made.raw, message.sendAtMs === null ? recipients.length : 0);
    try {
      return await this.#commit(by, made, message.about, { keyed, extras });
    } catch (error) {
      blobs.lend(blob, RAW, made.raw, 0);
      for (const ref of made.written) await blobs.discard(ref);
      throw error;
    }
  }

  /**
   * Refuses what needs no look at what is to be sent; the commit decides what may change.
   * @throws RelayError as send()
   */
  async check(
    org: OrgRecord,
    inbox: Inbox,
    message: Pick<MessageToSend, "to" | "cc" | "bcc" | "about">,
  ): Promise<void> {
    const addresses = recipientsOf(message);
    refuseOthers(inbox, addresses);
    await this.#refuseSuppressed(org.id, addresses);
    await this.#refuseEarly(org, inbox, message.about);
    await this.services.written.look(org.id);
    await this.services.blobs.refuseWhenFull();
  }

  async #refuseSuppressed(orgId: string, addresses: readonly string[]): Promise<void> {
    const found = await this.services.suppressions.among(orgId, addresses);
    if (found.length === 0) return;
    throw new RelayError(
      "recipient_suppressed",
      `nothing was sent: mail to ${
        found.join(", ")
      } bounced, or was complained about; leave them out, or lift the suppression (DELETE /v1/mail/suppressions/{address})`,
    );
  }

  /** What the commit decides too: so that nothing is composed that it would refuse. */
  async #refuseEarly(org: OrgRecord, { id }: Inbox, about: MessageRow | null): Promise<void> {
    const { mailboxes, store } = this.services;
    const mailbox = await mailboxes.read(org.id, id);
    this.#takeSend(mailbox, store.now());
    if (about !== null) refuseLoop(await this.#trafficOf(about), store.now());
  }

  #takeSend(mailbox: Mailbox, nowMs: number): Window {
    const limit = this.services.limits.mailSendsPerInboxPerHour;
    const most = `an inbox sends at most ${limit} messages an hour; wait and send again`;
    const rule = { limit, windowMs: HOUR_MS };
    return admitOrRefuse(mailbox.sent ?? [], nowMs, rule, (ms) => rateLimited(most, ms));
  }

  async #trafficOf({ orgId, inboxId, threadId }: MessageRow) {
    const { messages } = this.services;
    const ids = await messages.indexed(orgId, inboxId, ["thread", threadId], {
      limit: LOOP_MESSAGES,
      newest: true,
    });
    const rows = await messages.readAll(orgId, inboxId, ids);
    const own = rows.filter(({ direction }) => direction === "outbound").reverse();
    const inbound = rows.find(({ direction }) => direction === "inbound");
    return {
      ownAtMs: own.map(({ createdAtMs }) => createdAtMs),
      lastInbound: inbound?.automated ?? null,
    };
  }

  /** Composes the message, reads it back, and stores its bytes. */
  async #make(
    org: OrgRecord,
    inbox: Inbox,
    message: MessageToSend,
    addresses: readonly string[],
  ): Promise<MadeMessage> {
    const { store, random, composer, limits, written, domain, dkim } = this.services;
    const nowMs = store.now();
    const from: MailAddress = {
      name: inbox.displayName,
      address: `${inbox.localPart}@${domain}`,
    };
    const { raw, sha256, facts, ...texts } = await composer.composeAndRead({
      from,
      to: message.to,
      cc: message.cc,
      replyTo: message.replyTo,
      subject: message.subject,
      text: message.text,
      html: message.html,
      attachments: message.attachments,
      headers: message.headers,
      messageId: `${makeUlid(nowMs, random).toLowerCase()}@${domain}`,
      dateMs: message.sendAtMs ?? nowMs,
      inReplyTo: message.inReplyTo,
      references: message.references,
      autoSubmitted: message.autoSubmitted,
      boundary: random(BOUNDARY_BYTES).toHex(),
      dkim,
    }, {
      envelopeFrom: from.address,
      limits: { parts: limits.mailParts, depth: limits.mailDepth },
      given: { text: message.text, html: message.html },
    }, org.id);
    const blob = await written.write([org.id, inbox.id], sectionsOf(raw, texts), [sha256]);
    return {
      raw,
      rest: texts.rest,
      written: [blob],
      message: fitSentLists({
        ...facts,
        orgId: org.id,
        inboxId: inbox.id,
        direction: "outbound",
        envelope: null,
        auth: null,
        from,
        to: message.to,
        cc: message.cc,
        bcc: message.bcc,
        replyTo: message.replyTo,
        subject: message.subject,
        textSource: message.text === null ? "html" : "plain",
        automated: "none",
        codes: [],
        recipients: addresses.map((address) => waiting(address, nowMs, message.sendAtMs)),
        sendAtMs: message.sendAtMs,
        cancelledAtMs: null,
        labels: message.labels,
        read: true,
        blob,
        repeatKey: null,
      }),
    };
  }

  async #commit(
    { org, key }: SendingParty,
    { message, rest, written }: MadeMessage,
    about: MessageRow | null,
    { keyed, extras }: { keyed?: KeyedWork; extras?: MessageExtras },
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { mailboxes, store, random, limits, blobs, domain } = this.services;
    const { orgId, inboxId } = message;
    let former: BlobRef | null = null;
    return await mailboxes.change(key === null ? orgId : { org, key }, inboxId, async (found) => {
      if (former !== null) await blobs.discard(former);
      former = null;
      const nowMs = store.now();
      await extras?.prepare();
      const thread = await this.#threadOf(about);
      const traffic = about === null ? null : await this.#trafficOf(about);
      const row = identify(found, message, thread, { nowMs, random });
      const answer = key === null || maySee(key, row.writtenByKey)
        ? wholeMessageJson(row, rest, nothingInFlight(nowMs))
        : new TextEncoder().encode(JSON.stringify(markedMessage(row, nothingInFlight(nowMs))));
      const kept = await keyed?.prepare([orgId, inboxId], answer);
      if (kept !== undefined && kept.blob !== null) written.push(former = kept.blob);
      return {
        sizeBytes: valueSizeBytes(row) + rest.length + answer.length,
        plan: (given) => {
          const { transaction, org: current } = given;
          keyed?.decide(transaction);
          if (current.suspendedAtMs !== null) throw suspended();
          const left = extras?.plan(given, row) ?? given.mailbox;
          const sent = this.#takeSend(left, transaction.nowMs);
          if (traffic !== null) refuseLoop(traffic, transaction.nowMs);
          const recipients = row.recipients.length;
          count(transaction, orgId, transaction.nowMs, { accepted: recipients });
          count(transaction, orgId, row.createdAtMs, { pending: recipients });
          takeRecipientQuota(transaction, current, recipients, limits);
          const bytes = storedBytes(row) + (kept?.sizeBytes ?? 0);
          if (
            !fitsQuota(
              transaction.record(storageKey(orgId)),
              bytes,
              current,
              transaction.nowMs,
              limits,
            )
          ) {
            throw overQuota();
          }
          stageMails(transaction, row, { store, domain });
          const answers = [extras?.answer?.(), kept?.keep(transaction)]
            .filter((one) => one !== undefined);
          const mailbox = { ...left, sent };
          const told = answers.length === 0 ? row : { ...row, answers };
          const added = stageMessage({ transaction, mailbox }, this.services, told, {
            thread,
            isFirstOfRfcId: true,
          });
          return { mailbox: added.mailbox, result: answer };
        },
      };
    });
  }

  async #threadOf(about: MessageRow | null): Promise<ThreadRow | null> {
    if (about === null) return null;
    const { orgId, inboxId, threadId } = about;
    return await readThread(this.services.store, orgId, inboxId, threadId);
  }
}

/** Each address once, in the order of to, cc, bcc, as mail goes to it. */
function recipientsOf({ to, cc, bcc }: Pick<SendRequest, "to" | "cc" | "bcc">): string[] {
  const all = [...to, ...cc, ...bcc].map(({ address }) => cleanEmail("to", address));
  return [...new Set(all)];
}

/** @throws RelayError `recipient_not_allowed` */
function refuseOthers({ entries }: Inbox, addresses: readonly string[]): void {
  if (entries.allow_send.length === 0) return;
  const others = addresses.filter((address) => !isListed(entries.allow_send, address));
  if (others.length === 0) return;
  throw new RelayError(
    "recipient_not_allowed",
    `nothing was sent: this inbox writes to those on its allow_send list alone, which ${
      others.join(", ")
    } ${others.length === 1 ? "is" : "are"} not on`,
  );
}

function waiting(address: string, nowMs: number, sendAtMs: number | null): Recipient {
  return {
    address,
    status: "queued",
    smtpCode: null,
    enhancedCode: null,
    reason: null,
    detail: null,
    attempts: 0,
    nextAttemptAtMs: sendAtMs ?? nowMs,
    atMs: nowMs,
  };
}

function suspended(): RelayError {
  return new RelayError("org_suspended", "the operator of this relay has suspended the org");
}
