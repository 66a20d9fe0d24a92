/** Cursors of lists: where a page ended, and what list it was a page of, signed (mail page, top). */
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../../toolkit/canonical_json.ts";
import { invalidJson } from "../errors.ts";

/** What a cursor holds good for: the org, the path, filters. */
export type CursorContext = Readonly<Record<string, string | null>>;
/** Where a page ended. */
export type CursorKey = readonly (string | number)[];

const MAX_CHARACTERS = 4096;

/**
 * The cursor of the next page: base64url of JSON, a dot, and base64url of its HMAC-SHA256.
 * @param secret 32 bytes
 */
export function sealCursor(secret: Uint8Array, context: CursorContext, key: CursorKey): string {
  return seal(secret, canonicalJson({ v: 1, ...context, key: [...key] }));
}

/**
 * Where the page before ended. Parameters as sealCursor().
 * @throws RelayError `invalid_json` for any other text, and for a cursor of another list
 */
export function openCursor(secret: Uint8Array, cursor: string, context: CursorContext): CursorKey {
  const bad = () => invalidJson("cursor must be a next_cursor of this very list, unchanged");
  if (cursor.length > MAX_CHARACTERS) throw bad();
  const text = Buffer.from(cursor.split(".")[0]!, "base64url").toString();
  // Compared whole: decoders of base64 pass over what they do not know.
  const [own, given] = [Buffer.from(seal(secret, text)), Buffer.from(cursor)];
  if (own.length !== given.length || !timingSafeEqual(own, given)) throw bad();
  const { key, v: _v, ...bound } = JSON.parse(text);
  if (canonicalJson(bound) !== canonicalJson({ ...context })) throw bad();
  return key;
}

function seal(secret: Uint8Array, text: string): string {
  const mac = createHmac("sha256", secret).update(text).digest("base64url");
  return `${Buffer.from(text).toString("base64url")}.${mac}`;
}
