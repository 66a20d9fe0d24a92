/** Pages of lists in the mail area: `{data, next_cursor}` (mail page, top). */
import type { Context } from "hono";
import { NO_STORE } from "../http/answer.ts";
import { type CursorContext, type CursorKey, Cursors } from "../http/cursor.ts";
import { answerList, LIST_QUERY } from "../http/list_page.ts";
import { readQuery } from "../http/query.ts";
import type { HttpEnv } from "../http/route.ts";
import type { MailSecret } from "./secret/mail_secret.ts";

/** What a request asks of a list. */
export interface AskedPage {
  limit: number;
  /** Where the page before ended; null for the first page. */
  after: CursorKey | null;
  /**
   * The page as an answer.
   * @param last where it ends; null where nothing comes after it
   */
  answer(data: readonly unknown[], last: CursorKey | null): Response;
  /** The same of rows that are finished JSON. */
  answerJson(rows: readonly string[], last: CursorKey | null): Response;
  /** The cursor behind a row. */
  cursorAt(last: CursorKey): string;
  /** What a cursor says that came otherwise. @throws RelayError `invalid_json` */
  open(cursor: string): CursorKey;
}

export class ListPages {
  constructor(private readonly secret: Pick<MailSecret, "key">) {}

  /**
   * Reads `limit` (1 to 100, 50 when absent) and `cursor`.
   * @param bound what a cursor of this list is good for, besides its path: the org, the inbox of the
   * key, filters
   * @throws RelayError `invalid_json` for a cursor of another list
   */
  async read(
    c: Context<HttpEnv>,
    bound: Readonly<Record<string, string | null>>,
  ): Promise<AskedPage> {
    const { limit, cursor } = readQuery(c.get("query"), LIST_QUERY);
    const context: CursorContext = { ...bound, path: c.get("path") };
    const cursors = new Cursors(await this.secret.key("mail-cursor"));
    const answerJson = (rows: readonly string[], last: CursorKey | null) =>
      answerList(rows, last === null ? null : cursors.issue(context, last), NO_STORE);
    return {
      limit,
      after: cursor === undefined ? null : cursors.open(cursor, context),
      answer: (data, last) => answerJson(data.map((row) => JSON.stringify(row)), last),
      answerJson,
      cursorAt: (last) => cursors.issue(context, last),
      open: (given) => cursors.open(given, context),
    };
  }
}
