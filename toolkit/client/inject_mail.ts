import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { answerReader, parseAnswer } from "./answer_reader.ts";
import { connectionOf, type ConnectionOptions } from "./connection.ts";
import { ask } from "./exchange.ts";
import { decodeInboundSecret, MIN_INBOUND_SECRET_BYTES } from "./inbound_secret.ts";
import type { RequestOptions } from "./relay_client.ts";

/** What a mail server knows of a message besides its bytes. */
export interface MailEnvelope {
  /** The envelope sender; empty for a bounce. */
  readonly from: string;
  /** The envelope recipients, 1 to 100. */
  readonly to: readonly string[];
  /** The address of the client that delivered it; SPF is checked against it. */
  readonly client_ip?: string;
  /** What that client called itself. */
  readonly client_helo?: string;
}

/** What became of an injected message. */
export interface InjectedMail {
  /** The recipients that have it. */
  readonly accepted: readonly string[];
  /** Those that have not, and why. */
  readonly rejected: readonly { readonly address: string; readonly code: string }[];
}

/**
 * Hands a received e-mail to the relay: POST /v1/mail/inbound/raw. It is signed with the secret
 * that the relay's operator shares with the mail server. The signature is an HMAC-SHA256 over id,
 * timestamp, envelope and the raw bytes. All tries have one id, under which the relay stores the
 * message once.
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
  const connection = connectionOf(options);
  const key = secretBytes(options.secret);
  const id = `inj_${bytesToHex(connection.random(16))}`;
  const envelopeText = asciiJson(envelope);

  function headers(): Record<string, string> {
    const timestamp = String(Math.floor(connection.clock.now() / 1000));
    const signed = concatBytes(utf8ToBytes(`${id}.${timestamp}.${envelopeText}.`), message);
    return {
      "Content-Type": "message/rfc822",
      "X-Relay-Envelope": envelopeText,
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${base64.encode(hmac(sha256, key, signed))}`,
    };
  }

  const path = "/v1/mail/inbound/raw";
  const call = { method: "POST", path, headers, body: message, signal };
  const read = answerReader(parseAnswer(await ask(connection, call)));
  const rejected = read.list("rejected").map((entry) => {
    const one = answerReader(entry);
    return { address: one.string("address"), code: one.string("code") };
  });
  return { accepted: read.strings("accepted"), rejected };
}

function secretBytes(secret: string): Uint8Array {
  const bytes = decodeInboundSecret(secret);
  if (bytes !== null) return bytes;
  throw new TypeError(
    `Cannot sign: the secret must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with or ` +
      "without whsec_ before it",
  );
}

/** A header has ASCII only; JSON can write every other character as an escape. */
function asciiJson({ from, to, client_ip, client_helo }: MailEnvelope): string {
  return JSON.stringify({ from, to, client_ip, client_helo }).replace(
    /[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
