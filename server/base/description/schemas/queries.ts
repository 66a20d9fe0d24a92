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

export const beforeId = (what: string) =>
  integer(`Only ${what} with lower ids; for the next page, the lowest id of this one.`, {
    min: 1,
    max: MAX_ID,
  });
