/** Message-ID, In-Reply-To and References (RFC 5322, section 3.6.4). Pure; linear. */
import type { ParseWarning } from "../parsed/parsed_mail.ts";

/** What is kept of an id, without its brackets. */
const ID = /^(?![^<>]*[<>])[\x21-\x7e]{1,250}$/;
/** Ids of References that are kept, the newest: threads are found from there. */
export const MAX_REFERENCES = 100;

/**
 * The first id of a header, without brackets; null where there is none of the form that is kept.
 * @param values of the fields of one name, in order; of doubled ones the first counts
 */
export function firstMessageId(values: readonly string[]): string | null {
  const value = values[0] ?? "";
  const id = /<([^<>]*)>/.exec(value)?.[1]?.trim() ?? value.trim();
  return ID.test(id) ? id : null;
}

/**
 * The ids of References, oldest first, each once. Of more than 100 the newest are kept.
 * @param warnings gets `references_cut`
 */
export function messageIds(values: readonly string[], warnings: Set<ParseWarning>): string[] {
  const ids = new Set<string>();
  for (const value of values) {
    for (const [, id] of value.matchAll(/<([^<>]*)>/g)) {
      const trimmed = id!.trim();
      if (ID.test(trimmed)) ids.add(trimmed);
    }
  }
  if (ids.size > MAX_REFERENCES) warnings.add("references_cut");
  return [...ids].slice(-MAX_REFERENCES);
}
