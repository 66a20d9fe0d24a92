/** The next hop of local mode: a mailer that keeps what it is given, and replies by the recipient's domain. */
import type { Mailer, MailOutcome } from "../../base/mailer/mailer.ts";
import type { SmtpReply } from "../../base/mailer/smtp_reply.ts";
import type { CapturedMails } from "./captured_mails.ts";
import type { MailContent } from "./mail_content.ts";

/** Replies to RCPT for reserved domains (RFC 2606). */
const REFUSALS: Readonly<Record<string, Extract<MailOutcome, { result: "refused" }>>> = {
  "bounce.test": {
    result: "refused",
    stage: "recipient",
    permanent: true,
    reason: "550 5.1.1 at RCPT TO",
    reply: { code: 550, enhancedCode: "5.1.1", text: "no such user here" },
    isReached: true,
  },
  "defer.test": {
    result: "refused",
    stage: "recipient",
    permanent: false,
    reason: "451 at RCPT TO",
    reply: { code: 451, enhancedCode: null, text: "try again later" },
    isReached: true,
  },
};
/** It takes the content, and its reply never comes. */
const SILENT_DOMAIN = "unknown.test";

/**
 * A mailer without a next hop: recipients at bounce.test are refused with 550 5.1.1, at
 * defer.test with 451, at unknown.test the outcome is unknown, and all others have their mail
 * (docs/operations.md). What it took is kept, and what it refused too.
 * @param now Unix ms
 * @param read off the main thread, where it matters: what it finds in the beginning of a message
 */
export function createCaptureMailer(
  mails: CapturedMails,
  now: () => number,
  read: (raw: Uint8Array) => Promise<MailContent>,
): Mailer {
  return {
    async send(mail, { beforeContent, signal }) {
      if (signal.aborted) return givenUp();
      const domain = mail.to.slice(mail.to.lastIndexOf("@") + 1).toLowerCase();
      const refusal = Object.hasOwn(REFUSALS, domain) ? REFUSALS[domain] : undefined;
      if (refusal !== undefined) {
        mails.addRefused(mail, {
          atMs: now(),
          content: await read(mail.content),
          result: refusal.permanent ? "refused" : "deferred",
          reason: wordsOf(refusal.reply!),
        });
        return refusal;
      }
      const content = await read(mail.content);
      await beforeContent();
      if (signal.aborted) return givenUp();
      const result = domain === SILENT_DOMAIN ? "unknown" : "sent";
      mails.add(mail, { atMs: now(), result, content });
      if (result === "unknown") return { result, reason: "no reply at DATA" };
      return { result, reason: "250 at DATA", reply: { ...TAKEN } };
    },
    close: () => Promise.resolve(),
  };
}

function wordsOf({ code, enhancedCode, text }: SmtpReply): string {
  return [code, enhancedCode, text].filter((word) => word !== null).join(" ");
}

const TAKEN: SmtpReply = { code: 250, enhancedCode: null, text: "captured" };

function givenUp(): MailOutcome {
  return {
    result: "refused",
    stage: "connection",
    permanent: false,
    reason: "given up",
    reply: null,
    isReached: false,
  };
}
