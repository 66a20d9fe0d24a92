/**
 * Tokens of links in mails (docs/adr/0036): the id of a record and an HMAC of what it is
 * for. The store never has a token: it is made again whenever its mail is sent.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";

export type LinkKind = "magic" | "claim" | "restore";

/** Everything that a token may be for; a draft's is bound to one revision of it. */
type TokenKind = LinkKind | "draft";

/** A ULID, then 32 bytes. */
const TOKEN = /^([0-7][0-9A-HJKMNP-TV-Z]{25})\.[A-Za-z0-9_-]{43}$/;

/**
 * `<id>.<base64url HMAC-SHA-256 over kind NUL id NUL revision>`
 * @param key 32 bytes, the one for "mail-link"
 * @param id a ULID
 * @param revision of a draft, in digits; empty for all other kinds
 */
export function linkToken(key: Uint8Array, kind: TokenKind, id: string, revision = ""): string {
  const mac = createHmac("sha256", key).update(`${kind}\0${id}\0${revision}`).digest("base64url");
  return `${id}.${mac}`;
}

/** Whether text has the form of a token for an id. Reads no key. */
export function isTokenOf(id: string, token: string): boolean {
  return TOKEN.exec(token)?.[1] === id;
}

/** Whether a token is the one for a revision of a draft, in the same time for each. */
export function isDraftToken(
  key: Uint8Array,
  token: string,
  id: string,
  revision: number,
): boolean {
  return isTokenOf(id, token) && isSame(linkToken(key, "draft", id, String(revision)), token);
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
  const id = TOKEN.exec(token)?.[1];
  if (id === undefined) return null;
  let found: LinkKind | null = null;
  for (const kind of kinds) {
    if (isSame(linkToken(key, kind, id), token)) found = kind;
  }
  return found === null ? null : { kind: found, id };
}

/** Compared as text: decoders of base64 pass over what they do not know. */
function isSame(own: string, given: string): boolean {
  const [one, other] = [Buffer.from(own), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
