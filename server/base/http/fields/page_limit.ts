/** How many rows a page has that follows ids: of messages, events, agents and bans. */
import { integer, type Parameter } from "./query.ts";

/** Specification, 4.2 to 4.5. */
export const PAGE_LIMIT = { default: 50, max: 200 };

/** The query parameter `limit`, clamped. */
export function pageLimit({ default: absent, max } = PAGE_LIMIT): Parameter<number> {
  return integer(1, max, absent);
}
