/** Pages of lists in the mail area: `{data, next_cursor}` (docs/api.md, "The mail area"). */
import type { Context } from "hono";
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { type CursorContext, type CursorKey, Cursors } from "../../base/http/fields/cursors.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import type { MailSecret } from "./mail_secret.ts";
import { PAGE_QUERY } from "./schemas.ts";

const HEADERS = { ...JSON_HEADERS, ...NO_STORE };

/** Where a page of a list begins, and cursors for where it ends. */
export interface ListCursors {
  /** Where the page before ended; null for the first page. */
  after: CursorKey | null;
  /** The cursor behind a row. */
  cursorAt(last: CursorKey): string;
  /** What a cursor says that came otherwise. @throws RelayError `invalid_json` */
  open(cursor: string): CursorKey;
}

/** What a request asks of a list. */
export interface PageRequest extends ListCursors {
  limit: number;
  /**
   * The page as an answer.
   * @param last where it ends; null where nothing comes after it
   */
  answer(data: readonly unknown[], last: CursorKey | null): Response;
  /** The same of rows that are finished JSON. */
  answerJson(rows: readonly string[], last: CursorKey | null): Response;
}

/** What a cursor is good for: the org, the inbox of the key, filters. */
export type PageBound = Readonly<Record<string, string | null>>;

export class ListPages {
  constructor(private readonly secret: Pick<MailSecret, "key">) {}

  /**
   * Reads `limit` (1 to 100, 50 when absent) and `cursor`.
   * @param bound what a cursor of this list is bound to besides its path: the org, the inbox of the
   * key, filters
   * @throws RelayError `invalid_json` for a cursor of another list
   */
  async read(c: Context<HttpEnv>, bound: PageBound): Promise<PageRequest> {
    const { limit, cursor } = readQuery(c.get("query"), PAGE_QUERY);
    const cursors = await this.at(c.get("path"), bound, cursor);
    const answerJson = (rows: readonly string[], last: CursorKey | null) => {
      const next = last === null ? null : cursors.cursorAt(last);
      const body = `{"data":[${rows.join(",")}],"next_cursor":${JSON.stringify(next)}}`;
      return answerWhole(body, { headers: HEADERS });
    };
    return {
      ...cursors,
      limit,
      answer: (data, last) => answerJson(data.map((row) => JSON.stringify(row)), last),
      answerJson,
    };
  }

  /**
   * A place in a list by a cursor that came otherwise than in a query.
   * @param path names the list
   * @param cursor undefined for the first page
   * @throws RelayError `invalid_json` for a cursor of another list
   */
  async at(path: string, bound: PageBound, cursor: string | undefined): Promise<ListCursors> {
    const context: CursorContext = { ...bound, path };
    const cursors = new Cursors(await this.secret.key("mail-cursor"));
    const open = (given: string) => cursors.open(given, context);
    return {
      after: cursor === undefined ? null : open(cursor),
      cursorAt: (last) => cursors.issue(context, last),
      open,
    };
  }
}
