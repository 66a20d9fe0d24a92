/**
 * Sends mail by SMTP to the one configured next hop (RFC 5321). A connection that took a mail, or
 * refused it in order, waits a little for the next one.
 */
import { isIP } from "node:net";
import { dnsCache } from "nodemailer/lib/shared";
import type { SMTPConnectionOptions } from "nodemailer/lib/smtp-connection";
import { isLoopback } from "../config/loopback.ts";
import type { SmtpConfig } from "../config/mail_config.ts";
import { WaitQueue } from "../bounds/wait_queue.ts";
import type { Handover, Mailer, MailOutcome, OutgoingMail } from "./mailer.ts";
import { NextHopUses } from "./next_hop_uses.ts";
import { oneAuthorityMore } from "./one_authority_more.ts";
import { SmtpSession, type SmtpTiming } from "./smtp_session.ts";

export type { SmtpTiming } from "./smtp_session.ts";

export interface SmtpMailerOptions {
  smtp: SmtpConfig;
  /** Name given with EHLO. */
  ehloName: string;
  /** PEM certificates that the next hop's certificate may be issued by, besides the system's. */
  caPem?: string;
  /**
   * Concurrent connections, including those being closed: next hops refuse more from one client.
   * 10 unless given.
   */
  connections?: number;
  timing?: Partial<SmtpTiming>;
}

const TIMING: SmtpTiming = {
  connectMs: 20_000,
  replyMs: 60_000,
  finalReplyMs: 600_000,
  wholeMs: 1_800_000,
  quitMs: 2_000,
  idleMs: 3_000,
};
const CONNECTIONS = 10;
/** Many next hops end a connection after some number of mails. */
const MAILS_A_CONNECTION = 100;

/**
 * Makes a mailer for the next hop. TLS is required and its certificate checked. A loopback next hop
 * is the exception: STARTTLS is used if offered, and the certificate is not checked.
 */
export function createSmtpMailer(options: SmtpMailerOptions): Mailer {
  const timing = { ...TIMING, ...options.timing };
  const connectionOptions = optionsOf(options, timing);
  const { connections = CONNECTIONS } = options;
  const uses = new NextHopUses(connections);
  /** Places for connections, and who waits for one, or for a connection with its place. */
  let freePlaces = connections;
  const queue = new WaitQueue<SmtpSession | "free">();
  const closing = new Map<SmtpSession, Promise<void>>();
  /** Sessions that wait for a mail, and what ends their wait. */
  const idle = new Map<SmtpSession, ReturnType<typeof setTimeout>>();
  let isClosed = false;

  const begin = () => new SmtpSession(connectionOptions, options.smtp, timing);

  /** Ends a session; its place is free when it has ended. */
  function leave(session: SmtpSession): void {
    const left = session.leave().finally(() => {
      closing.delete(session);
      if (!queue.give("free")) freePlaces++;
    });
    closing.set(session, left);
  }

  function takeIdle(): SmtpSession | undefined {
    for (const [session, timer] of [...idle].reverse()) {
      clearTimeout(timer);
      idle.delete(session);
      if (session.isReusable) return session;
      leave(session);
    }
    return undefined;
  }

  function putAside(session: SmtpSession): void {
    const isGood = session.isReusable && session.transactions < MAILS_A_CONNECTION && !isClosed;
    if (!isGood) return leave(session);
    if (queue.give(session)) return;
    const end = () => {
      clearTimeout(timer);
      if (idle.delete(session)) leave(session);
    };
    const timer = setTimeout(end, timing.idleMs);
    Deno.unrefTimer(timer);
    idle.set(session, timer);
    session.onEnd = end;
  }

  /** A session that has waited may be of no use any more: that is no attempt. */
  async function sendAgain(
    session: SmtpSession,
    mail: OutgoingMail,
    handover: Handover,
  ): Promise<MailOutcome | null> {
    const outcome = await session.send(mail, handover);
    const isOver = outcome.result === "refused" && !session.isContentBegun &&
      (outcome.reply === null || outcome.reply.code === 421) && !session.isReusable;
    return isOver && !handover.signal.aborted ? null : outcome;
  }

  /** @returns null once the signal aborts */
  async function takeSession(signal: AbortSignal): Promise<SmtpSession | null> {
    if (signal.aborted) return null;
    if (freePlaces > 0) {
      freePlaces--;
      return begin();
    }
    const got = await queue.wait(signal);
    return got === "free" ? begin() : got;
  }

  async function sendByOne(mail: OutgoingMail, handover: Handover): Promise<MailOutcome> {
    let session = takeIdle() ?? await takeSession(handover.signal);
    if (session === null) return GIVEN_UP;
    session.onEnd = () => {};
    try {
      if (session.transactions > 0) {
        const outcome = await sendAgain(session, mail, handover);
        if (outcome !== null) return outcome;
        session.close();
        session = begin();
      }
      return await session.send(mail, handover);
    } finally {
      putAside(session);
    }
  }

  return {
    async send(mail, handover) {
      const { use = "notice" } = mail;
      if (!await uses.take(use, handover.signal)) return GIVEN_UP;
      try {
        return await sendByOne(mail, handover);
      } finally {
        uses.giveBack(use);
      }
    },
    async close() {
      isClosed = true;
      for (const session of [...idle.keys()]) {
        clearTimeout(idle.get(session));
        idle.delete(session);
        leave(session);
      }
      for (const session of closing.keys()) session.close();
      await Promise.all(closing.values());
    },
  };
}

const GIVEN_UP: MailOutcome = {
  result: "refused",
  stage: "connection",
  permanent: false,
  reason: "given up",
  reply: null,
  isReached: false,
};

function optionsOf(
  { smtp, ehloName, caPem }: SmtpMailerOptions,
  timing: SmtpTiming,
): SMTPConnectionOptions {
  const loopback = isLoopback(smtp.host);
  connectByName(smtp.host);
  return {
    host: smtp.host,
    port: smtp.port,
    secure: smtp.secure,
    requireTLS: !smtp.secure && !loopback,
    name: ehloName,
    tls: {
      rejectUnauthorized: !loopback,
      minVersion: "TLSv1.2",
      ...(caPem === undefined ? {} : oneAuthorityMore(caPem, "TLSv1.2")),
    },
    dnsTimeout: timing.connectMs,
    connectionTimeout: timing.connectMs,
    greetingTimeout: timing.connectMs,
    socketTimeout: timing.replyMs,
    // A reply to QUIT, or none in time, is the end: nothing more is waited for.
    socketCloseTimeout: 0,
    logger: false,
  };
}

/**
 * Makes the library connect to a next hop by its name, since this process may reach only that name.
 * By itself the library would ask name servers and connect to addresses. A name that its cache
 * gives as its own address is passed to node:net unchanged.
 */
function connectByName(host: string): void {
  if (isIP(host) === 0) dnsCache.set(host, { value: { addresses: [host] }, expires: undefined });
}
