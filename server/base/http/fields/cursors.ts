/**
 * Opaque cursors of lists: where a page ended, and in which list. A cursor is base64url of
 * canonical JSON `{v, ...context, key}` and, behind it, its HMAC-SHA-256. It does not expire.
 */
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../../../../toolkit/canonical_json.ts";
import type { JsonValue } from "../../../../toolkit/json_value.ts";
import { RelayError } from "../../errors.ts";

/** What a cursor is bound to, as org, path, filters and order. What may change between pages is left out. */
export type CursorContext = Readonly<Record<string, JsonValue>> & { v?: never; key?: never };

/** Key of the last row of a page, in the order of the list. */
export type CursorKey = (string | number)[];

const VERSION = 1;
const MAC_BYTES = 32;
/** Characters: what a query can carry beside the path and its filters. */
export const MAX_CURSOR_LENGTH = 4_096;

export class Cursors {
  /** @param secret 32 bytes; the same in every process, or none reads the cursors of another */
  constructor(private readonly secret: Uint8Array) {}

  /** The cursor behind a row. @throws RangeError where context and key take over 4,096 characters */
  issue(context: CursorContext, key: CursorKey): string {
    const json = Buffer.from(writeJson(context, key));
    const cursor = Buffer.concat([json, this.#macOf(json)]).toString("base64url");
    if (cursor.length > MAX_CURSOR_LENGTH) {
      throw new RangeError(`a cursor has at most ${MAX_CURSOR_LENGTH} characters`);
    }
    return cursor;
  }

  /**
   * The key behind which the next page begins.
   * @param context of the request that names the cursor
   * @throws RelayError `invalid_json` for what was not issued for this context, to the letter
   */
  open(cursor: string, context: CursorContext): CursorKey {
    if (cursor.length > MAX_CURSOR_LENGTH) throw foreignCursor();
    const bytes = Buffer.from(cursor, "base64url");
    // Buffer reads other alphabets, padding and loose bits too; only one text is the cursor.
    if (bytes.length <= MAC_BYTES || bytes.toString("base64url") !== cursor) throw foreignCursor();
    const json = bytes.subarray(0, -MAC_BYTES);
    if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), this.#macOf(json))) throw foreignCursor();
    const text = json.toString();
    const { key } = JSON.parse(text) as { key: CursorKey };
    if (writeJson(context, key) !== text) throw foreignCursor();
    return key;
  }

  #macOf(json: Uint8Array): Buffer {
    return createHmac("sha256", this.secret).update("cursor\n").update(json).digest();
  }
}

function writeJson(context: CursorContext, key: CursorKey): string {
  return canonicalJson({ ...context, v: VERSION, key });
}

function foreignCursor(): RelayError {
  return new RelayError(
    "invalid_json",
    "query parameter cursor must be next_cursor of an earlier answer to the same request " +
      "(same credentials, path, filters and order; limit and wait may differ); without cursor a list begins anew",
    {
      toolMessage:
        "cursor must be next_cursor of an earlier answer of the same tool to the same key and arguments (limit and " +
        "wait may differ), and no cursor of the REST API; without cursor the list begins anew",
    },
  );
}
