/** What the parts of the mail area say of their routes in the API description, beside paths.ts. */
import { z } from "@hono/zod-openapi";
import type { Operation } from "../description/operation.ts";
import type { MailPathId } from "./paths.ts";

/** A described route: what paths.ts does not say of it already. */
export type Described = Pick<
  Operation,
  "accessOptional" | "description" | "query" | "headers" | "body" | "answers" | "errors" | "never"
>;

export type DescribedRoutes = Partial<Record<MailPathId, Described>>;

/** An id: its prefix and a ULID. */
export const mailId = (prefix: string, what: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`))
    .openapi({ description: what });

export const PageQuery = z.object({
  limit: z.string().regex(/^-?[0-9]{1,20}$/).optional().openapi({
    description: "Rows a page: 1 to 100, 50 when absent; clamped.",
  }),
  cursor: z.string().optional().openapi({
    description: "`next_cursor` of the page before, unchanged, for the same list.",
  }),
});

/** `{data, next_cursor}` */
export const pageOf = (row: z.ZodType) =>
  z.object({
    data: z.array(row),
    next_cursor: z.string().nullable().openapi({
      description: "Pass it as `cursor` for the next page; null where nothing comes after.",
    }),
  });
