/** The query of a search (docs/mail.md, "Searching"). */
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { described, type DescribedParameter } from "../../base/description/schemas/queries.ts";
import { invalidJson } from "../../base/errors.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";
import { readTime } from "../../base/http/fields/read_time.ts";
import type { PageBound } from "../access/list_pages.ts";
import { direction } from "../access/schemas.ts";
import { MAX_QUERY, type Term, termsOf } from "./search_terms.ts";

export const SEARCH_QUERY = {
  q: described(
    text(),
    z.string().openapi({
      description: `Words, and phrases in double quotes: at most ${MAX_QUERY} characters.`,
    }),
  ),
  inbox_id: described(
    text(),
    z.string().optional().openapi({ description: "Id or address; all when absent." }),
  ),
  direction,
  after: time("Messages of this time or later, RFC 3339."),
  before: time("Messages of an earlier time, RFC 3339."),
};

export interface SearchQuery {
  q: string;
  terms: Term[];
  /** As given: an id or an address. */
  inboxNamed: string | undefined;
  direction: "inbound" | "outbound" | undefined;
  afterMs: number | undefined;
  beforeMs: number | undefined;
}

/** @throws RelayError `invalid_json` naming the parameter */
export function readSearchQuery(rawQuery: string): SearchQuery {
  const { q, inbox_id, direction, after, before } = readQuery(rawQuery, SEARCH_QUERY);
  if (q === undefined) throw invalidJson("query parameter q is required: words to search for");
  return {
    q,
    terms: termsOf(q),
    inboxNamed: inbox_id,
    direction,
    afterMs: after,
    beforeMs: before,
  };
}

/** What a cursor of a search is bound to; `q` as a hash, since a cursor is short. */
export function boundOfSearch(
  { q, direction, afterMs, beforeMs }: Omit<SearchQuery, "terms" | "inboxNamed">,
): PageBound {
  return {
    q: createHash("sha256").update(q).digest("base64url"),
    direction: direction ?? null,
    after: afterMs === undefined ? null : String(afterMs),
    before: beforeMs === undefined ? null : String(beforeMs),
  };
}

function time(description: string): DescribedParameter<number | undefined> {
  return described({
    absent: undefined,
    read: (given, name) => readTime(`query parameter ${name}`, given),
  }, z.string().optional().openapi({ description }));
}
