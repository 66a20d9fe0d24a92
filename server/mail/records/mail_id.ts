/** Ids of mail objects: a prefix and a ULID, whose text sorts by the time at which it was made. */

import { makeUlid, ULID_PATTERN } from "../../base/storage/rows/ulid.ts";

export { makeUlid, makeUlidAbove } from "../../base/storage/rows/ulid.ts";

/** Prefixes (specification, 2.11). */
export type MailIdPrefix = "org" | "ibx" | "msg" | "thr" | "key" | "wh" | "dft" | "evt" | "dlv";

/** A new id, as in "org_01JD...". Parameters as makeUlid(). */
export function makeMailId(
  prefix: MailIdPrefix,
  nowMs: number,
  random: (sizeBytes: number) => Uint8Array,
): string {
  return `${prefix}_${makeUlid(nowMs, random)}`;
}

/** The least id of a prefix that is made at a time or later: where a range of rows begins. */
export function leastMailId(prefix: MailIdPrefix, timeMs: number): string {
  return `${prefix}_${makeUlid(timeMs, (sizeBytes) => new Uint8Array(sizeBytes))}`;
}

/** Whether text has the form of an id with this prefix. */
export function isMailId(prefix: MailIdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ULID_PATTERN.test(text.slice(prefix.length + 1));
}
