/**
 * What senders, gateways and the next hop know of a relay's mail across its deaths and the leaps of its
 * clock: what was accepted, under which id, and what was handed over.
 */
import assert from "node:assert/strict";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { accepted, type MailKeyHolder } from "../support/mail_caller.ts";
import type { MailAnswer } from "../support/mail_relay.ts";
import { listAllMessages, send } from "../support/sending_org.ts";
import type { TestSmtpServer } from "../support/smtp_server.ts";

/** A request under an Idempotency-Key. */
interface KeyedMail {
  subject: string;
  /** From the first 202. */
  id: string | null;
  /** Whether a request under the key is under way, as the relay knows it. */
  isHeld: boolean;
}

/** A mail that a gateway hands in under one webhook-id. */
interface InboundMail {
  subject: string;
  raw: string;
  /** From the first 200, as text. */
  answer: string | null;
}

/** How long a request may hold its key. */
const LEASE_MS = 60_000;

export interface MailLedgerOptions {
  inbox: { id: string; address: string };
  smtp: TestSmtpServer;
  secret: Uint8Array;
}

export class MailLedger {
  readonly #keyed: KeyedMail[] = [];
  readonly #inbound: InboundMail[] = [];
  /** Answers by what they were given to and their status. */
  readonly answers: Record<string, number> = {};

  constructor(private readonly options: MailLedgerOptions) {}

  /** Sends a new mail under a key of its own. */
  async send(holder: MailKeyHolder): Promise<void> {
    const mail = { subject: `mail ${this.#keyed.length}`, id: null, isHeld: false };
    this.#keyed.push(mail);
    await this.#trySend(holder, mail);
  }

  /** Hands in a new mail. @param timestamp by the gateway's clock, unix seconds */
  async handIn(url: string, timestamp: number): Promise<void> {
    const subject = `inbound ${this.#inbound.length}`;
    const mail = { subject, raw: mailText({ headers: { Subject: subject } }), answer: null };
    this.#inbound.push(mail);
    await this.#tryHandIn(url, mail, timestamp, subject.replace(" ", "_"));
  }

  /** Repeats a request, under its key. @param at 0 up to 1: which of them */
  async repeatSend(holder: MailKeyHolder, at: number): Promise<void> {
    const mail = this.#keyed[Math.floor(at * this.#keyed.length)];
    if (mail !== undefined) await this.#trySend(holder, mail);
  }

  /**
   * Hands a mail in again.
   * @param at 0 up to 1: which of them
   * @param id another webhook-id than its first: of a mail server that tries again a day long
   */
  async repeatHandIn(url: string, timestamp: number, at: number, id?: string): Promise<void> {
    const mail = this.#inbound[Math.floor(at * this.#inbound.length)];
    if (mail === undefined) return;
    await this.#tryHandIn(url, mail, timestamp, id ?? mail.subject.replace(" ", "_"));
  }

  /** Repeats all, accepted or not. @returns how many are neither answered nor held by somebody */
  async repeatAll(holder: MailKeyHolder, timestamp: number): Promise<number> {
    for (const mail of this.#keyed) await this.#trySend(holder, mail);
    for (const mail of this.#inbound) {
      await this.#tryHandIn(holder.url, mail, timestamp, mail.subject.replace(" ", "_"));
    }
    const open = this.#keyed.filter(({ id, isHeld }) => id === null && !isHeld);
    return open.length + this.#inbound.filter(({ answer }) => answer === null).length;
  }

  async #trySend(holder: MailKeyHolder, mail: KeyedMail): Promise<void> {
    const { subject } = mail;
    const body = { to: "ann@example.org", subject };
    const headers = { "Idempotency-Key": subject };
    const answer = await send(holder, this.options.inbox, body, headers);
    this.#count("send", answer);
    mail.isHeld = answer.body.error?.code === "idempotency_in_progress";
    if (mail.isHeld) {
      // By a process that died, for no longer than its lease.
      const waitMs = Number(answer.headers.get("retry-after")) * 1000;
      assert.ok(waitMs > 0 && waitMs <= LEASE_MS, `a key is held for ${waitMs} ms`);
      return;
    }
    if (answer.status === 503) return;
    const { id } = accepted(answer, 202);
    assert.equal(id, mail.id ??= id, `"${subject}" was accepted twice`);
  }

  async #tryHandIn(url: string, mail: InboundMail, timestamp: number, id: string): Promise<void> {
    const { inbox, secret } = this.options;
    const { raw } = mail;
    const answer = await handIn(url, { to: [inbox.address], raw, timestamp, secret, id });
    this.#count("inbound", answer);
    if (answer.status === 503 || answer.body.error?.code === "timestamp_out_of_range") return;
    const told = JSON.stringify(accepted(answer, 200));
    assert.equal(told, mail.answer ??= told, `"${mail.subject}" was answered otherwise`);
  }

  #count(what: string, { status }: MailAnswer): void {
    const name = `${what} ${status}`;
    this.answers[name] = (this.answers[name] ?? 0) + 1;
  }

  /** Asserts that all that was accepted is stored once, and that nothing was handed over twice. */
  async check(holder: MailKeyHolder): Promise<void> {
    const stored = await listAllMessages(holder, this.options.inbox);
    const ids = new Map<string, string>();
    for (const { subject, id } of stored) {
      assert.ok(!ids.has(subject), `"${subject}" is stored twice`);
      ids.set(subject, id);
    }
    for (const { subject, id } of this.#keyed) {
      if (id !== null) assert.equal(ids.get(subject), id, `"${subject}" was accepted and is lost`);
    }
    for (const { subject, answer } of this.#inbound) {
      if (answer !== null) assert.ok(ids.has(subject), `"${subject}" was accepted and is lost`);
    }
    const arrived = this.options.smtp.received.map(({ content }) =>
      /^Subject: (.*)\r$/m.exec(content.toString())?.[1]
    );
    for (const { subject } of this.#keyed) {
      const times = arrived.filter((one) => one === subject).length;
      assert.ok(times <= 1, `"${subject}" was handed over ${times} times`);
    }
  }

  /** How many mails wait for the next hop, or are with it. */
  async waiting(holder: MailKeyHolder): Promise<number> {
    const stored = await listAllMessages(holder, this.options.inbox);
    return stored.filter(({ status }) => ["queued", "sending", "deferred"].includes(status)).length;
  }

  get accepted(): { sent: number; inbound: number; handedOver: number } {
    return {
      sent: this.#keyed.filter(({ id }) => id !== null).length,
      inbound: this.#inbound.filter(({ answer }) => answer !== null).length,
      handedOver: this.options.smtp.received.length,
    };
  }
}
