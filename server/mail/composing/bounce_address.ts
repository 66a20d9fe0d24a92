/**
 * Envelope senders that name message and recipient, so that a bounce says by its address whom it is
 * about, and nobody else can say it (docs/mail.md, "Bounces and suppressed addresses"). Pure.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isMailId } from "../records/mail_id.ts";

/** Which mail bounced. */
export interface BouncedMail {
  /** `msg_` and a ULID. */
  messageId: string;
  /** Index in `recipients`, 0 to 99. */
  recipient: number;
}

const LOCAL_PART = "bounce";
/** 120 bits of the HMAC, which base32 says in 24 characters. */
const HMAC_BYTES = 15;
const FORM = /^bounce\+([0-9a-z]{26})\.([0-9]{2})([a-z2-7]{24})$/;
/** RFC 4648, section 6, in lower case. */
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * `bounce+<26 of a ULID>.<2 digits><24 of an HMAC>@domain`, in lower case; its local part has 60 characters.
 * @param key MailSecret.key("mail-bounce")
 * @throws RangeError for what has no place in it
 */
export function makeBounceAddress(
  { messageId, recipient }: BouncedMail,
  domain: string,
  key: Uint8Array,
): string {
  if (!isMailId("msg", messageId)) throw new RangeError("not the id of a message");
  if (!Number.isInteger(recipient) || recipient < 0 || recipient > 99) {
    throw new RangeError("a bounce address takes recipients 0 to 99");
  }
  const named = `${messageId.slice("msg_".length).toLowerCase()}.${
    `${recipient}`.padStart(2, "0")
  }`;
  return `${LOCAL_PART}+${named}${authenticator(named, key)}@${domain}`;
}

/**
 * What an address of ours names; case does not matter, since mail servers change it.
 * @param localPart left of the @ of an address at the relay's domain
 * @returns null for what is none, or was not made here
 */
export function readBounceAddress(localPart: string, key: Uint8Array): BouncedMail | null {
  // A character outside ASCII may become one of ASCII in lower case, as the Kelvin sign does.
  // deno-lint-ignore no-control-regex
  const match = /^[\x00-\x7f]{60}$/.test(localPart) ? FORM.exec(localPart.toLowerCase()) : null;
  if (match === null) return null;
  const [, ulid, digits, given] = match as unknown as [string, string, string, string];
  const encoder = new TextEncoder();
  const expected = encoder.encode(authenticator(`${ulid}.${digits}`, key));
  if (!timingSafeEqual(expected, encoder.encode(given))) return null;
  const messageId = `msg_${ulid.toUpperCase()}`;
  return isMailId("msg", messageId) ? { messageId, recipient: Number(digits) } : null;
}

/**
 * Whether mail to an address can be about a mail that went out, and is then put into that mail's inbox,
 * whoever made the address.
 * @param address lowercased
 * @param domain of the relay, lowercased
 */
export function isBounceAddress(address: string, domain: string): boolean {
  return address.startsWith(`${LOCAL_PART}+`) && address.endsWith(`@${domain}`);
}

function authenticator(named: string, key: Uint8Array): string {
  const bytes = createHmac("sha256", key).update(named).digest().subarray(0, HMAC_BYTES);
  let text = "";
  let bits = 0;
  let left = 0;
  for (const byte of bytes) {
    left = (left << 8 | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[left >> bits - 5 & 31];
  }
  return text;
}
