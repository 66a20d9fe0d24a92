/** The query of a search (docs/mail.md, "Searching"). */
import { createHash } from "node:crypto";
import { invalidJson } from "../../base/errors.ts";
import { choice, type Parameter, readQuery, text } from "../../base/http/fields/query.ts";
import { readTime } from "../../base/http/fields/read_time.ts";
import type { PageBound } from "../access/list_pages.ts";
import { type Term, termsOf } from "./search_terms.ts";

const QUERY = {
  q: text(),
  inbox_id: text(),
  direction: choice(["inbound", "outbound"], undefined),
  after: time(),
  before: time(),
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
  const { q, inbox_id, direction, after, before } = readQuery(rawQuery, QUERY);
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

function time(): Parameter<number | undefined> {
  return { absent: undefined, read: (given, name) => readTime(`query parameter ${name}`, given) };
}
