import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { decodeInboundSecret, MIN_INBOUND_SECRET_BYTES } from "./inbound_secret.ts";

/** What a mail server knows about a message in addition to its bytes. */
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

/** What is signed in addition to the message. */
export interface InboundRequest {
  /** `whsec_` and base64, or base64; at least 24 bytes. */
  readonly secret: string;
  /** Names the handing in, 1 to 255 printable ASCII characters; the same in all its tries. */
  readonly id: string;
  /** Unix time in whole seconds. */
  readonly timestamp: number;
  readonly envelope: MailEnvelope;
}

/**
 * The headers for handing a received e-mail to a relay (POST /v1/mail/inbound/raw): a
 * Standard Webhooks signature, HMAC-SHA256 over `{id}.{timestamp}.{X-Relay-Envelope}.` and the raw
 * bytes. Pure.
 *
 * @example
 * ```ts
 * import { signInbound } from "agent-relay-toolkit/client";
 *
 * const message = new TextEncoder().encode("Subject: hello\r\n\r\nworld\r\n");
 * const headers = signInbound({
 *   secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u",
 *   id: "inj_1",
 *   timestamp: 1760000000,
 *   envelope: { from: "a@example.org", to: ["bot@agents.example"] },
 * }, message);
 * if (headers["webhook-signature"] !== "v1,ZK7i6U+QAUOqIefFeAnrBdhWseeQaKP8owbkct36g4k=") throw new Error("another signature");
 * ```
 *
 * @param message the raw message (RFC 5322), as received
 * @throws {TypeError} for a secret that is none; the message does not repeat it
 */
export function signInbound(
  { secret, id, timestamp, envelope }: InboundRequest,
  message: Uint8Array,
): Record<string, string> {
  const key = decodeInboundSecret(secret);
  if (key === null) {
    throw new TypeError(
      `Cannot sign: the secret must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with ` +
        "or without whsec_ before it",
    );
  }
  const header = asciiJson(envelope);
  return {
    "Content-Type": "message/rfc822",
    "X-Relay-Envelope": header,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": webhookSignature(key, `${id}.${timestamp}.${header}.`, message),
  };
}

/**
 * A signature of Standard Webhooks, `v1,` and base64: HMAC-SHA256.
 *
 * @param head what is signed before the content: id and timestamp, each with a full stop behind it
 */
export function webhookSignature(key: Uint8Array, head: string, content: Uint8Array): string {
  const signed = concatBytes(utf8ToBytes(head), content);
  return `v1,${base64.encode(hmac(sha256, key, signed))}`;
}

/** A header has ASCII only; JSON can write every other character as an escape. */
function asciiJson({ from, to, client_ip, client_helo }: MailEnvelope): string {
  return JSON.stringify({ from, to, client_ip, client_helo }).replace(
    /[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
