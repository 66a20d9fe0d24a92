import { bytesToHex } from "@noble/hashes/utils.js";
import { answerReader, parseAnswer } from "./answer_reader.ts";
import { connectionOf, type ConnectionOptions } from "./connection.ts";
import { ask } from "./exchange.ts";
import type { RequestOptions } from "./relay_client.ts";
import { type MailEnvelope, signInbound } from "./sign_inbound.ts";

/** A recipient of an injected e-mail that did not get it. */
export interface RejectedRecipient {
  readonly address: string;
  /** `not_found`, `blocked`, `org_suspended`, ... */
  readonly code: string;
}

/** The outcome of an injected message. */
export interface InjectedMail {
  /** The recipients that have it. */
  readonly accepted: readonly string[];
  /** The recipients that do not, and why. */
  readonly rejected: readonly RejectedRecipient[];
}

/** The relay takes the body of a large message for so long. */
const UPLOAD_MS = 120_000;

/**
 * Hands a received e-mail to the relay: POST /v1/mail/inbound/raw. It is signed with the secret
 * that the relay's operator shares with the mail server ({@linkcode signInbound}). All tries have one
 * id, under which the relay stores the message once.
 *
 * @param secret `whsec_` and base64, or base64; at least 24 bytes
 * @param message the raw message (RFC 5322), as received
 * @throws {TypeError} for a secret that is none; the message does not repeat it
 * @throws {RefusalError} `mail_disabled`, `not_found` (no such inbox), `invalid_signature`,
 * `unavailable` (try again), ...
 */
export async function injectMail(
  options: ConnectionOptions & { readonly secret: string },
  envelope: MailEnvelope,
  message: Uint8Array<ArrayBuffer>,
  { signal }: RequestOptions = {},
): Promise<InjectedMail> {
  const { secret } = options;
  const connection = connectionOf({ timeoutMs: UPLOAD_MS, ...options });
  const id = `inj_${bytesToHex(connection.random(16))}`;
  const headers = () => {
    const timestamp = Math.floor(connection.clock.now() / 1000);
    return signInbound({ secret, id, timestamp, envelope }, message);
  };
  const path = "/v1/mail/inbound/raw";
  const call = { method: "POST", path, headers, body: message, signal };
  const read = answerReader(parseAnswer(await ask(connection, call)));
  const rejected = read.list("rejected").map((entry) => {
    const one = answerReader(entry);
    return { address: one.string("address"), code: one.string("code") };
  });
  return { accepted: read.strings("accepted"), rejected };
}
