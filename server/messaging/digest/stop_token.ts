/**
 * Tokens of the second button of the unsubscribe page. A token holds which mailbox to stop, until
 * when the button works, and a code made with the relay's key. Nothing is stored for it. A link
 * that belongs to nobody gets one too. That token has no effect, and looks the same to anybody
 * without the relay's key.
 */
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";

export const STOP_TOKEN_MS = 3_600_000;

const PREFIX = "rt_stop_";
const TIME_BYTES = 8;
const HASH_BYTES = 32;
const TOKEN_PATTERN = /^rt_stop_[A-Za-z0-9_-]{96}$/;

/**
 * A token for a mailbox that works for an hour.
 * @param key the relay's address key
 * @param mailboxHash 32 bytes as base64url; null where the link belongs to nobody
 * @param linkToken of the link whose page has the button: the same link has the same kind of token
 */
export function issueStopToken(
  key: Uint8Array,
  mailboxHash: string | null,
  linkToken: string,
  nowMs: number,
): string {
  const body = Buffer.alloc(TIME_BYTES + HASH_BYTES);
  body.writeDoubleBE(nowMs + STOP_TOKEN_MS);
  const subject = mailboxHash === null
    ? hashOf(key, "nobody", Buffer.from(linkToken))
    : Buffer.from(mailboxHash, "base64url");
  subject.copy(body, TIME_BYTES);
  const mark = hashOf(key, mailboxHash === null ? "no stop" : "stop", body);
  return PREFIX + Buffer.concat([body, mark]).toString("base64url");
}

/** The mailbox hash of a token that this relay has issued within the last hour, else null. */
export function openStopToken(key: Uint8Array, token: string, nowMs: number): string | null {
  if (!TOKEN_PATTERN.test(token)) return null;
  const bytes = Buffer.from(token.slice(PREFIX.length), "base64url");
  const body = bytes.subarray(0, TIME_BYTES + HASH_BYTES);
  if (!timingSafeEqual(bytes.subarray(body.length), hashOf(key, "stop", body))) return null;
  const untilMs = body.readDoubleBE();
  if (nowMs >= untilMs || nowMs < untilMs - 2 * STOP_TOKEN_MS) return null;
  return body.subarray(TIME_BYTES).toString("base64url");
}

function hashOf(key: Uint8Array, purpose: string, bytes: Buffer): Buffer {
  return createHmac("sha256", key).update(`${purpose}\n`).update(bytes).digest();
}
