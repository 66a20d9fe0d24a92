/** Schemas that many routes of the mail area share. */
import { z } from "@hono/zod-openapi";
import { described, oneOf, querySchema } from "../../base/description/schemas/queries.ts";
import { integer, type Parameter, text } from "../../base/http/fields/query.ts";

/** An id: its prefix and a ULID. */
export const mailId = (prefix: string, what: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`))
    .openapi({ description: what });

export const newApiKey = () =>
  z.string().regex(/^rm_sk_[A-Za-z0-9_-]{43}$/).openapi({ description: "Shown this once." });

/** An integer, described as its text. */
export function number(description: string, parameter: Parameter<number>) {
  const schema = z.string().regex(/^-?[0-9]{1,20}$/).optional().openapi({ description });
  return described(parameter, schema);
}

export const PAGE_QUERY = {
  limit: number("Rows a page: 1 to 100, 50 when absent; clamped.", integer(1, 100, 50)),
  cursor: described(
    text(),
    z.string().optional().openapi({
      description: "`next_cursor` of the page before, unchanged, for the same list.",
    }),
  ),
};
export const PageQuery = querySchema(PAGE_QUERY);

/** From which end a list is read. */
export const order = <T extends "asc" | "desc">(absent: T) =>
  oneOf(["asc", "desc"], absent, { description: `\`${absent}\` when absent.` });

export const direction = oneOf(["inbound", "outbound"], undefined);

/** `{data, next_cursor}` */
export const pageOf = (row: z.ZodType) =>
  z.object({
    data: z.array(row),
    next_cursor: z.string().nullable().openapi({
      description: "Pass it as `cursor` for the next page; null where nothing comes after.",
    }),
  });

/** An answer that nobody keeps: what is in it is for the holder of a key alone. */
export const unkept = (description: string, schema: z.ZodType) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { schema },
});

/** What a 404 means where the path or query names an inbox. */
export const NO_INBOX = "the org has no inbox with this id or address, or the key is for another";
