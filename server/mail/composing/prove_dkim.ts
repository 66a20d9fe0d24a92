/** Whether the operator's DKIM key signs so that a receiver is convinced: known at start-up, not from bounces. */
import { Buffer } from "node:buffer";
import { dkimRecordName } from "../../../toolkit/mail/dkim_record.ts";
import { dkimRecord } from "../../../toolkit/node/dkim_key.ts";
import { ConfigError } from "../../base/config/config.ts";
import type { DkimKey } from "./sign_dkim.ts";

/**
 * Signs a message with the key and verifies it as a receiver does, with the record that the operator is
 * told to publish. Asks no name server.
 * @throws ConfigError when the key or the selector cannot sign
 */
export async function proveDkim(key: DkimKey): Promise<void> {
  // Only who has a key waits for the libraries.
  const { dkimVerify } = await import("mailauth/lib/dkim/verify.js");
  const { composeMail } = await import("./compose_mail.ts");
  let told = "";
  try {
    const message = await composeMail({ ...TEST_MAIL(key.domain), dkim: key });
    const record = dkimRecord(key.privateKeyPem);
    const { results } = await dkimVerify(Buffer.from(message), {
      // deno-lint-ignore require-await
      resolver: async (name: string) => name === dkimRecordName(key) ? [[record]] : [],
    });
    const [result] = results;
    if (results.length === 1 && result?.status.result === "pass") return;
    told = `: the signature's verdict is ${result?.status.result ?? "none"}`;
  } catch {
    // What a library says of a key may hold some of it.
  }
  throw new ConfigError(
    "RELAY_MAIL_DKIM_KEY",
    `and RELAY_MAIL_DKIM_SELECTOR must sign mail of ${key.domain}; a test signature did not verify${told}`,
  );
}

const TEST_MAIL = (domain: string) => ({
  from: { name: null, address: `relay@${domain}` },
  to: [{ name: null, address: `relay@${domain}` }],
  cc: [],
  replyTo: [],
  subject: "A test signature",
  text: "Signed  at start-up\n",
  html: null,
  attachments: [],
  headers: [],
  messageId: `start-up@${domain}`,
  dateMs: 0,
  inReplyTo: null,
  references: [],
  autoSubmitted: null,
  boundary: "0123456789abcdef",
});
