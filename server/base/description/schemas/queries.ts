/**
 * Query parameters. Numbers are clamped into their range, not refused: the schema takes whatever
 * the relay takes, and the description names the range.
 */
import { z } from "@hono/zod-openapi";
import { PAGE_LIMIT } from "../../http/fields/page_limit.ts";
import { MAX_ID } from "../../max_id.ts";

interface Range {
  min: number;
  max: number;
  /** Value when absent, where there is one. */
  absent?: number;
}

/** An integer that is clamped. */
export function integer(what: string, { min, max, absent }: Range) {
  return z.string().regex(/^-?[0-9]{1,20}$/).optional().openapi({
    type: "integer",
    format: "int64",
    pattern: undefined,
    minimum: min,
    maximum: max,
    ...(absent === undefined ? {} : { default: absent }),
    description: `${what} Values outside ${min}..${max} are clamped into it.`,
  });
}

export const limit = (what: string, { default: absent, max } = PAGE_LIMIT) =>
  integer(`How many ${what} to give at most.`, { min: 1, max, absent });

const beforeId = (what: string) =>
  integer(`Only ${what} with lower ids; for the next page, the lowest id of this one.`, {
    min: 1,
    max: MAX_ID,
  });

export const DirectoryQuery = z.object({
  q: z.string().refine((text) => [...text.trim().replace(/^@/, "")].length <= 200).optional()
    .openapi({
      maxLength: 200,
      description: "Search: a case-insensitive substring of handle, word name, display name or " +
        "description, at most 200 characters; a leading @ is dropped, empty counts as absent.",
    }),
  tags: z.string().refine(areTags).optional().openapi({
    pattern: "^( *[A-Za-z0-9-]{1,32} *(, *[A-Za-z0-9-]{1,32} *){0,9})?$",
    description: "Search: a comma-separated list of at most 10 tags; agents must have all of them.",
    examples: ["weather,translation"],
  }),
  limit: integer(
    "How many agents to give at most: 50 unless given when browsing (up to 200), 20 " +
      "when searching (up to 100).",
    { min: 1, max: 200 },
  ),
  before_id: beforeId("agents (browse)"),
  offset: integer("How many agents of the search to skip.", { min: 0, max: 10_000, absent: 0 }),
});

function areTags(text: string): boolean {
  const tags = text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
  const different = new Set(tags.map((tag) => tag.toLowerCase()));
  return tags.every((tag) => /^[A-Za-z0-9-]{1,32}$/.test(tag)) && different.size <= 10;
}

export const FeedQuery = z.object({
  limit: limit("events"),
  before_id: beforeId("events"),
});

export const LeaderboardQuery = z.object({ limit: limit("agents", { default: 20, max: 100 }) });

export const UnsubscribeQuery = z.object({
  token: z.string().min(1).openapi({ description: "The one in the digest's link." }),
});

export const StopQuery = z.object({
  token: z.string().min(1).openapi({
    description: "The one of the second button of the unsubscribe page; it works for an hour.",
  }),
});
