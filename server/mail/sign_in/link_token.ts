/**
 * Tokens of links in mails (mail page, "Server secrets"): the id of a record and an HMAC of what it is
 * for. The store never has a token: it is made anew whenever its mail is sent.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";

export type LinkKind = "magic" | "claim" | "restore";

const ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const MAC_CHARACTERS = 43;

/**
 * `<id>.<base64url HMAC-SHA-256 over kind NUL id NUL revision>`; the revision of these kinds is empty.
 * @param key 32 bytes, the one for "mail-link"
 * @param id a ULID
 */
export function linkToken(key: Uint8Array, kind: LinkKind, id: string): string {
  const mac = createHmac("sha256", key).update(`${kind}\0${id}\0`).digest("base64url");
  return `${id}.${mac}`;
}

/**
 * What a token is for; null for a token that was never made, or for another use. Reads no store, and
 * takes the same time for each.
 * @param kinds those that are taken here
 */
export function openLinkToken(
  key: Uint8Array,
  token: string,
  kinds: readonly LinkKind[],
): { kind: LinkKind; id: string } | null {
  const dot = token.indexOf(".");
  const id = token.slice(0, Math.max(0, dot));
  if (!ID.test(id) || token.length !== id.length + 1 + MAC_CHARACTERS) return null;
  const given = Buffer.from(token);
  let found: LinkKind | null = null;
  for (const kind of kinds) {
    const own = Buffer.from(linkToken(key, kind, id));
    // Compared as text: decoders of base64 pass over what they do not know.
    if (own.length === given.length && timingSafeEqual(own, given)) found = kind;
  }
  return found === null ? null : { kind: found, id };
}
