/** Which addresses count as links of a message. Pure. */
import { CONTROLS } from "../../../base/http/fields/text_fields.ts";

/** Most links that are listed of a message. */
export const MAX_LINKS = 50;
/** Longer URLs are no link. */
const MAX_URL_CHARACTERS = 4_096;
const MAX_LINK_TEXT_CHARACTERS = 500;

/**
 * A URL of http or https as it was given, without what browsers drop from it, and with controls
 * escaped.
 * @returns undefined for everything else: other schemes, relative and malformed URLs
 */
export function linkTarget(given: string): string | undefined {
  if (given.length > 2 * MAX_URL_CHARACTERS) return undefined;
  const url = given.trim().replaceAll(/[\t\r\n]/g, "");
  if (!/^https?:/i.test(url) || url.length > MAX_URL_CHARACTERS) return undefined;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return undefined;
  return CONTROLS.test(url) || /\s/.test(url) ? parsed.href : url;
}

/** The words of a link, its white space collapsed, cut on a code point. */
export function linkText(given: string): string {
  const text = given.slice(0, 4 * MAX_LINK_TEXT_CHARACTERS).replaceAll(/\s+/g, " ").trim();
  if (text.length <= MAX_LINK_TEXT_CHARACTERS) return text;
  return text.slice(0, MAX_LINK_TEXT_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
}
