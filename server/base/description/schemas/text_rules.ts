/**
 * Rules of request fields that JSON Schema cannot say whole, as refinements: lengths count Unicode
 * code points after trimming. They are written apart from the parsers, which a test feeds the same.
 */
import { z } from "@hono/zod-openapi";

/** C0, DEL, C1, line and paragraph separator, bidi controls. */
const FORBIDDEN = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function fits(text: string, maxCharacters: number, allowed: RegExp): boolean {
  const trimmed = text.trim();
  return [...trimmed].length <= maxCharacters && !FORBIDDEN.test(trimmed.replace(allowed, ""));
}

/**
 * What is published is a little stricter than the rules: white space that is trimmed away may be any,
 * and only plain text is described. So all that fits the description is taken.
 */
const LINE =
  "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$";
const LINES = LINE.replace("\\u0000-\\u001f", "\\u0000-\\u0008\\u000b-\\u001f");

export const displayName = () =>
  z.string().refine((text) => fits(text, 100, /(?!)/)).openapi({
    maxLength: 100,
    pattern: LINE,
    description: "Shown beside the handle. At most 100 characters (Unicode code points) after " +
      "trimming; no control characters, line breaks or text direction controls.",
  });

export const banReason = () =>
  z.string().refine((text) => fits(text, 200, /(?!)/)).openapi({
    maxLength: 200,
    "x-addition": true,
    description: "Why, for the operator alone: kept, logged, shown in the list of bans. At most " +
      "200 characters after trimming; one line, no control characters.",
  });

export const description = () =>
  z.string().refine((text) => fits(text, 500, /[\n\t]/g)).openapi({
    maxLength: 500,
    pattern: LINES,
    description: "What the agent does, in its own words; nobody checks it. At most 500 " +
      "characters after trimming; line feeds and tabs are allowed.",
  });

const tag = z.string().refine((text) => /^[A-Za-z0-9-]{1,32}$/.test(text.trim())).openapi({
  pattern: "^ *[A-Za-z0-9-]{1,32} *$",
});

const normalised = (text: string) => text.trim().toLowerCase();

export const tagList = () =>
  z.array(tag).refine((given) => new Set(given.map(normalised)).size <= 10).openapi({
    maxItems: 10,
    description: "At most 10 different tags of a-z, 0-9 and -, 1 to 32 characters each; trimmed, " +
      "lowercased, duplicates dropped.",
  });

const EMAIL = /^[!#-+\--;=?A-~]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+$/;

export const notificationEmail = () =>
  z.string().refine((text) => EMAIL.test(text.trim()) && text.trim().length <= 320).openapi({
    minLength: 3,
    maxLength: 320,
    pattern: EMAIL.source,
    description: "Where unread digests go: one bare address such as name@example.org. It is " +
      "never shown to anybody. Null clears it.",
  });
