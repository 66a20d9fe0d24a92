import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { canonicalJson } from "../../toolkit/canonical_json.ts";
import { invalidJson } from "../errors.ts";
export type CursorContext = Readonly<Record<string, string | null>>;
export type CursorKey = readonly (string | number)[];
export function sealCursor(secret: Uint8Array, context: CursorContext, key: CursorKey): string {
  const text = canonicalJson({ v: 1, ...context, key: [...key] });
  const mac = createHmac("sha256", secret).update(text).digest("base64url");
  return `${Buffer.from(text).toString("base64url")}.${mac}`;
}
export function openCursor(secret: Uint8Array, cursor: string, context: CursorContext): CursorKey {
  const bad = () => invalidJson("cursor must be a next_cursor of this very list, unchanged");
  const [text64, mac, ...rest] = cursor.split(".");
  if (cursor.length > 4096 || rest.length > 0 || mac === undefined) throw bad();
  const text = Buffer.from(text64!, "base64url").toString();
  const own = createHmac("sha256", secret).update(text).digest("base64url");
  if (own.length !== mac.length || !timingSafeEqual(Buffer.from(own), Buffer.from(mac))) {
    throw bad();
  }
  const { key, v: _v, ...bound } = JSON.parse(text);
  if (canonicalJson(bound) !== canonicalJson({ ...context })) throw bad();
  return key;
}
