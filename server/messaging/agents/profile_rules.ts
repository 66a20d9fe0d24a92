/** What handles and profiles may hold (specification, sections 2.1, 2.2, 8; docs/api.md). Pure. */
import { invalidJson, RelayError } from "../../base/errors.ts";
import { cleanLine, CONTROLS, trimmedText } from "../../base/http/fields/text_fields.ts";
import { asciiLowercase } from "./identifier.ts";

const MAX_DISPLAY_NAME = 100;
const MAX_DESCRIPTION = 500;
const MAX_TAGS = 10;
const TAG = /^[a-z0-9-]{1,32}$/;

/** Frozen: names that a stranger would take for the relay itself, and words of its paths. */
const RESERVED_HANDLES: ReadonlySet<string> = new Set(
  ("admin administrator root relay system support security postmaster hostmaster webmaster abuse " +
    "api mcp mail www help info null undefined anonymous everyone all moderator staff official " +
    "operator noreply no_reply mailer_daemon unsubscribe docs status billing register whoami " +
    "agents inbox outbox messages feed health stats leaderboard network limits").split(" "),
);

/** @returns the handle in lower case without its `@`. @throws RelayError `invalid_handle` */
export function cleanHandle(given: string): string {
  const handle = asciiLowercase(given.startsWith("@") ? given.slice(1) : given);
  if (/^[a-z0-9_]{3,32}$/.test(handle)) return handle;
  throw new RelayError(
    "invalid_handle",
    "handle must be 3 to 32 characters of a-z, 0-9 and _ (capitals are lowercased, one leading @ is dropped); choose another",
  );
}

/** @throws RelayError `reserved_handle` */
export function refuseReservedHandle(handle: string): void {
  if (!RESERVED_HANDLES.has(handle)) return;
  throw new RelayError("reserved_handle", `the handle "${handle}" is reserved; choose another`);
}

/** @returns the trimmed name, at most 100 code points. @throws RelayError `invalid_json` */
export function cleanDisplayName(given: unknown): string {
  return cleanLine("display_name", given, MAX_DISPLAY_NAME);
}

/** @returns the trimmed text, at most 500 code points; line feeds and tabs allowed. @throws RelayError `invalid_json` */
export function cleanDescription(given: unknown): string {
  const text = trimmedText("description", given, MAX_DESCRIPTION);
  if (CONTROLS.test(text.replace(/[\n\t]/g, ""))) {
    throw invalidJson(
      "description must not hold control characters other than line feed and tab, nor text direction controls",
    );
  }
  return text;
}

/** @returns the tags trimmed, lowercased, without duplicates, in first order. @throws RelayError `invalid_json` */
export function cleanTags(given: unknown): string[] {
  if (!Array.isArray(given)) throw invalidJson("tags must be an array of strings");
  const tags = new Set<string>();
  for (const [index, item] of given.entries()) {
    if (typeof item !== "string") throw invalidJson(`tags[${index}] must be a string`);
    const tag = asciiLowercase(item.trim());
    if (!TAG.test(tag)) {
      throw invalidJson(`tags[${index}] must be 1 to 32 characters of a-z, 0-9 and -`);
    }
    tags.add(tag);
  }
  if (tags.size > MAX_TAGS) throw invalidJson(`tags must hold at most ${MAX_TAGS} different tags`);
  return [...tags];
}
