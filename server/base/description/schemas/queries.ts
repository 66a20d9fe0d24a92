/**
 * Query parameters, each said once: how it is read, and as it is described. Numbers are clamped into
 * their range, not refused: the schema takes whatever the relay takes, and the description names the range.
 */
import { z } from "@hono/zod-openapi";
import { choice, flag, integer as clamped, type Parameter } from "../../http/fields/query.ts";
import { MAX_ID } from "../../bounds/max_id.ts";

export interface DescribedParameter<T> extends Parameter<T> {
  readonly schema: z.ZodType;
}

/** Rows of a page that follows ids: of messages, events, agents, bans (specification, 4.2 to 4.5). */
export const PAGE_LIMIT = { default: 50, max: 200 };

/** A parameter with its description. */
export function described<T>(parameter: Parameter<T>, schema: z.ZodType): DescribedParameter<T> {
  return { ...parameter, schema };
}

/** `true` or `false`; false when absent. */
export const yesOrNo = described(flag(), z.enum(["true", "false"]).optional());

/** One of some words. @param absent what it is when absent */
export function oneOf<const W extends string, T extends W | undefined>(
  words: readonly [W, ...W[]],
  absent: T,
  more: Readonly<Record<string, unknown>> = {},
): DescribedParameter<W | T> {
  return described(choice(words, absent), z.enum(words).optional().openapi(more));
}

/** The schema of a query with these parameters, in their order. */
export function querySchema<P extends Readonly<Record<string, DescribedParameter<unknown>>>>(
  parameters: P,
) {
  const schemas = Object.entries(parameters).map(([name, { schema }]) => [name, schema]);
  return z.object(Object.fromEntries(schemas) as { [K in keyof P]: z.ZodType });
}

/**
 * An integer that is clamped.
 * @param absent value when absent, where there is one
 * @param more what else the description says
 */
export function integer<T extends number | undefined = undefined>(
  what: string,
  { min, max, absent }: { min: number; max: number; absent?: T },
  more: Readonly<Record<string, unknown>> = {},
): DescribedParameter<number | T> {
  return described(
    clamped(min, max, absent as T),
    z.string().regex(/^-?[0-9]{1,20}$/).optional().openapi({
      type: "integer",
      format: "int64",
      pattern: undefined,
      minimum: min,
      maximum: max,
      ...(absent === undefined ? {} : { default: absent }),
      description: `${what} Values outside ${min}..${max} are clamped into it.`,
      ...more,
    }),
  );
}

export const limit = (what: string, { default: absent, max } = PAGE_LIMIT) =>
  integer(`How many ${what} to give at most.`, { min: 1, max, absent });

export const beforeId = (what: string) =>
  integer(`Only ${what} with lower ids; for the next page, the lowest id of this one.`, {
    min: 1,
    max: MAX_ID,
  });
