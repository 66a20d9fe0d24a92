/** GET /v1/mail/search (docs/mail.md, "Searching"). */
import { Buffer } from "node:buffer";
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import type { AnswerBudget } from "../../base/http/answers/answer_budget.ts";
import { answerWhole, LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { SendsInFlight } from "../mailbox/statuses/sends_in_flight.ts";
import type { Inboxes } from "../mailbox/inboxes/inboxes.ts";
import type { ListPages } from "../access/list_pages.ts";
import type { MailHandlers } from "../access/paths.ts";
import { shownMessage } from "../mailbox/shown/shown_message.ts";
import type { MailSearch } from "./mail_search.ts";
import { boundOfSearch, readSearchQuery } from "./search_query.ts";
import { searchedInboxes } from "./searched_inboxes.ts";

export interface SearchRouteServices {
  search: MailSearch;
  inboxes: Inboxes;
  pages: ListPages;
  answers: AnswerBudget;
  inFlight: Pick<SendsInFlight, "snapshot">;
  limits: Pick<Limits, "pageBytes">;
}

export function searchHandlers(
  { search, inboxes, pages, answers, inFlight, limits }: SearchRouteServices,
) {
  return {
    async searchMail(request) {
      const { c, org, key } = request;
      const query = readSearchQuery(c.get("query"));
      const inboxIds = await searchedInboxes(inboxes, request, query.inboxNamed);
      const page = await pages.read(c, {
        org: org.id,
        key_inbox: key.inboxId,
        inbox: query.inboxNamed === undefined ? null : inboxIds[0]!,
        ...boundOfSearch(query),
      });
      const now = await inFlight.snapshot();
      const { rows, next, isPartial } = await search.find(org.id, {
        terms: query.terms,
        inboxIds,
        direction: query.direction,
        afterMs: query.afterMs,
        beforeMs: query.beforeMs,
        position: page.after === null ? null : page.after[0] as string,
      }, {
        limit: page.limit,
        maxBytes: limits.pageBytes,
        sizeOf: (json: string) => Buffer.byteLength(json),
        make: ({ row, highlights }) =>
          JSON.stringify({ message: shownMessage(row, now), highlights }),
      });
      await request.confirm(); // searches wait for each other
      const cursor = JSON.stringify(next === null ? null : page.cursorAt([next]));
      const partial = isPartial ? ',"partial":true' : "";
      const text = `{"data":[${rows.join(",")}],"next_cursor":${cursor}${partial}}`;
      const body = new TextEncoder().encode(text);
      if (body.length > LARGE_ANSWER_BYTES) {
        c.set("reservation", answers.reserve(body.length, "agent"));
      }
      return answerWhole(body, { headers: { ...JSON_HEADERS, ...NO_STORE } });
    },
  } satisfies MailHandlers;
}
