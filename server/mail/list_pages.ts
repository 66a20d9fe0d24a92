/** Pages of lists in the mail area: `{data, next_cursor}` (mail page, top). */
import type { Context } from "hono";
import { type CursorContext, type CursorKey, openCursor, sealCursor } from "../http/cursor.ts";
import { answerJson } from "../http/answer.ts";
import { integer, type Parameter, readQuery, text } from "../http/query.ts";
import type { HttpEnv } from "../http/route.ts";
import type { MailSecret } from "./secret/mail_secret.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

/** What a request asks of a list. */
export interface AskedPage {
  limit: number;
  /** Where the page before ended; null for the first page. */
  after: CursorKey | null;
  /** What the next cursor is bound to. */
  context: CursorContext;
}

/** Answers of lists with secrets must not be kept by anybody in between. */
const NO_STORE = { "Cache-Control": "no-store" };

export class ListPages {
  constructor(private readonly secret: Pick<MailSecret, "key">) {}

  /**
   * Reads `limit` (1 to 100, 50 when absent) and `cursor`.
   * @param bound what a cursor of this list holds good for, besides its path: the org, the inbox of
   * the key, filters
   * @throws RelayError `invalid_json` for a cursor of another list
   */
  async read(
    c: Context<HttpEnv>,
    bound: Readonly<Record<string, string | null>>,
    further: Readonly<Record<string, Parameter<unknown>>> = {},
  ): Promise<AskedPage> {
    const query = readQuery(c.get("query"), {
      limit: integer(1, MAX_LIMIT, DEFAULT_LIMIT),
      cursor: text(),
      ...further,
    });
    const context = { ...bound, path: c.get("path") };
    const key = await this.secret.key("mail-cursor");
    const after = query.cursor === undefined ? null : openCursor(key, query.cursor, context);
    return { limit: query.limit, after, context };
  }

  /** @param last where this page ends, null where nothing comes after it */
  async answer(page: AskedPage, data: readonly unknown[], last: CursorKey | null) {
    const key = await this.secret.key("mail-cursor");
    const next = last === null ? null : sealCursor(key, page.context, last);
    return answerJson({ data, next_cursor: next }, 200, NO_STORE);
  }
}
