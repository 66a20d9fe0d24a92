/** What a directory search asks for (specification, 4.4; docs/adr/0012). Pure. */
import { asciiLowercase } from "../agents/identifier.ts";
import { invalidJson } from "../../base/errors.ts";

export interface SearchQuery {
  /** Lowercased; empty: every agent with the tags. */
  text: string;
  /** Without duplicates; all of them must be held. */
  tags: string[];
}

const MAX_TEXT = 200;
const MAX_TAGS = 10;
const TAG = /^[a-z0-9-]{1,32}$/;

/**
 * The search for text and tags, or null when they are blank and the directory is browsed.
 * @param text as given: it is trimmed and loses one leading `@`
 * @param tags as given, one entry for each tag; blank ones do not count
 * @param textName how messages call the text
 * @throws RelayError `invalid_json`
 */
export function readSearchQuery(
  text: string | undefined,
  tags: readonly string[],
  textName = "q",
): SearchQuery | null {
  const query = { text: cleanText(text ?? "", textName), tags: cleanTags(tags) };
  return query.text === "" && query.tags.length === 0 ? null : query;
}

function cleanText(given: string, name: string): string {
  const text = given.trim().replace(/^@/, "");
  if (text.length > MAX_TEXT && [...text].length > MAX_TEXT) {
    throw invalidJson(`${name} must be at most ${MAX_TEXT} characters`);
  }
  return text.toLowerCase();
}

function cleanTags(given: readonly string[]): string[] {
  const tags = new Set(given.map((tag) => asciiLowercase(tag.trim())).filter((tag) => tag !== ""));
  for (const tag of tags) {
    if (!TAG.test(tag)) {
      throw invalidJson("each of tags must be 1 to 32 characters of a-z, 0-9 and -");
    }
  }
  if (tags.size > MAX_TAGS) throw invalidJson(`tags must name at most ${MAX_TAGS} tags`);
  return [...tags];
}
