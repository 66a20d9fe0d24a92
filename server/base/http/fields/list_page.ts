/** Lists that are paged by opaque cursors (cursors.ts): `{"data":[...],"next_cursor":string|null}`. */
import { JSON_HEADERS } from "../answers/answer.ts";
import { answerWhole } from "../answers/large_answer.ts";
import { pageLimit } from "./page_limit.ts";
import { text } from "./query.ts";

/** `limit` 1 to 100, clamped, 50 unless given; `cursor` is the next_cursor of an earlier answer. */
export const LIST_QUERY = { limit: pageLimit({ default: 50, max: 100 }), cursor: text() };

/**
 * A page of a list.
 * @param rows finished JSON, each of one row
 * @param nextCursor null where nothing follows
 */
export function answerList(
  rows: readonly string[],
  nextCursor: string | null,
  headers?: Readonly<Record<string, string>>,
): Response {
  const body = `{"data":[${rows.join(",")}],"next_cursor":${JSON.stringify(nextCursor)}}`;
  return answerWhole(body, { headers: { ...JSON_HEADERS, ...headers } });
}
