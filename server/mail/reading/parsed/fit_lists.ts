/** Lists cut so that what is found in a message fits the record of it. Pure. */
import type { ParsedFacts, ParseWarning } from "./parsed_mail.ts";

/**
 * Bytes of all lists together, as listBytes() measures them. A record has 48 KiB (docs/mail.md); what
 * else is found takes at most 8 KiB, and as much is left for what is not found in the message.
 */
const LIST_BYTES = 32 * 1024;

/** Most bytes of one list; the attachments take what is left. */
const BOUNDS = [
  { list: "replyTo", maxBytes: 2 * 1024, warning: "addresses_cut" },
  { list: "to", maxBytes: 8 * 1024, warning: "addresses_cut" },
  { list: "references", maxBytes: 6 * 1024, warning: "references_cut" },
  { list: "cc", maxBytes: 6 * 1024, warning: "addresses_cut" },
  { list: "attachments", maxBytes: LIST_BYTES, warning: "attachments_cut" },
] as const;

export type BoundedLists = Pick<ParsedFacts, (typeof BOUNDS)[number]["list"]>;

/**
 * The lists cut to what fits: the first of each, but of references the newest.
 * @param warnings gets `addresses_cut`, `references_cut`, `attachments_cut`
 * @param maxBytes of all of them together
 */
export function fitLists(
  lists: BoundedLists,
  warnings: Set<ParseWarning>,
  maxBytes = LIST_BYTES,
): BoundedLists {
  let free = maxBytes;
  const fitted: Record<string, unknown[]> = {};
  for (const { list, maxBytes: most, warning } of BOUNDS) {
    const inOrder: readonly unknown[] = list === "references"
      ? lists.references.toReversed()
      : lists[list];
    const { count, sizeBytes } = countFitting(inOrder, Math.min(free, most));
    if (count < inOrder.length) warnings.add(warning);
    free -= sizeBytes;
    const kept = inOrder.slice(0, count);
    fitted[list] = list === "references" ? kept.toReversed() : kept;
  }
  return fitted as unknown as BoundedLists;
}

/** How many entries of a list, from its beginning, take at most so many bytes. */
export function countFitting(list: readonly unknown[], maxBytes: number) {
  let [count, sizeBytes] = [0, 0];
  for (const entry of list) {
    const next = sizeBytes + listBytes(entry) + 1; // the comma
    if (next > maxBytes) break;
    [count, sizeBytes] = [count + 1, next];
  }
  return { count, sizeBytes };
}

/**
 * Bytes of a value as JSON in UTF-8, or as the store takes its strings where that is more: two for each
 * unit of one that has any character beyond Latin-1.
 */
export function listBytes(value: unknown): number {
  let more = 0;
  const json = JSON.stringify(value, (_name, part) => {
    if (typeof part === "string" && BEYOND_LATIN_1.test(part)) {
      more += Math.max(0, 2 * part.length - utf8Bytes(part));
    }
    return part;
  });
  return utf8Bytes(json) + more;
}

// deno-lint-ignore no-control-regex
const BEYOND_LATIN_1 = /[^\x00-\xff]/;
const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;
