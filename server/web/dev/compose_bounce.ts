/** A report that a captured mail could not be delivered, as mail servers write it (RFC 3464, RFC 6522). */
import MimeNode from "nodemailer/lib/mime-node";
import { asciiPart } from "../../base/mailer/ascii_part.ts";
import { domainOf } from "./compose_plain_mail.ts";
import type { AnsweredMail } from "./answered_mail.ts";
import type { CapturedMail } from "./captured_mails.ts";
import type { MailStamp } from "./compose_plain_mail.ts";

const REPLY = "550 5.1.1 no such user here";

/** The message (RFC 5322): words, the report for programs, and the header of the mail. */
export async function composeBounce(
  { from, to: recipient, atMs }: Pick<CapturedMail, "from" | "to" | "atMs">,
  { messageId, references, header }: Pick<AnsweredMail, "messageId" | "references" | "header">,
  stamp: MailStamp,
): Promise<Uint8Array<ArrayBuffer>> {
  const server = domainOf(recipient);
  const report = new MimeNode("multipart/report; report-type=delivery-status", {
    disableFileAccess: true,
    disableUrlAccess: true,
    baseBoundary: stamp.id.replaceAll(".", ""),
  });
  report.setHeader({
    From: { name: "Mail Delivery System", address: `mailer-daemon@${server}` },
    To: { name: "", address: from },
    Subject: "Undelivered mail returned to sender",
    Date: new Date(stamp.atMs),
    "Message-ID": `<${stamp.id}@${server}>`,
    "Auto-Submitted": "auto-replied",
    ...(messageId === null ? {} : { "In-Reply-To": `<${messageId}>` }),
    ...(references.length === 0
      ? {}
      : { References: references.map((one) => `<${one}>`).join(" ") }),
  });
  const words = `The mail to ${recipient} could not be delivered. The server said:\n\n` +
    `    ${REPLY}\n\nLocal mode wrote this report.\n`;
  const time = (ms: number) => new Date(ms).toUTCString().replace("GMT", "+0000");
  const fields = [
    `Reporting-MTA: dns; ${server}`,
    `Arrival-Date: ${time(atMs)}`,
    "",
    `Final-Recipient: rfc822; ${recipient}`,
    "Action: failed",
    "Status: 5.1.1",
    `Diagnostic-Code: smtp; ${REPLY}`,
    `Last-Attempt-Date: ${time(stamp.atMs)}`,
    "",
  ].join("\r\n");
  report.createChild().setRaw(asciiPart("text/plain", words));
  report.createChild().setRaw(`Content-Type: message/delivery-status\r\n\r\n${fields}`);
  report.createChild().setRaw(`Content-Type: text/rfc822-headers\r\n\r\n${header}`);
  return new Uint8Array(await report.build());
}
