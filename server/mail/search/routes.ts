/** GET /v1/mail/search (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { Buffer } from "node:buffer";
import { querySchema } from "../../base/description/schemas/queries.ts";
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import { answerWhole, LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { keyRoute } from "../access/mail_route.ts";
import { NO_INBOX, PAGE_QUERY, unkept } from "../access/schemas.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MessageRow } from "../mailbox/shown/schemas.ts";
import { shownMessage } from "../mailbox/shown/shown_message.ts";
import type { MailSearch } from "./mail_search.ts";
import { boundOfSearch, readSearchQuery, SEARCH_QUERY } from "./search_query.ts";
import { searchedInboxes } from "./searched_inboxes.ts";

const fragments = (what: string) =>
  z.array(z.string().max(160)).max(3).openapi({ description: what });

const FoundMessage = z.object({
  message: MessageRow,
  highlights: z.object({
    subject: fragments("The subject around what was found; plain text."),
    text: fragments("The same of the text."),
  }).openapi({ description: "At most 3 fragments in all." }),
}).openapi("MailFoundMessage");

const FoundPage = z.object({
  data: z.array(FoundMessage),
  next_cursor: z.string().nullable(),
  partial: z.literal(true).optional().openapi({
    description: "There are messages that were not looked at yet.",
  }),
});

const searchMail = keyRoute({
  method: "GET",
  path: "/v1/mail/search",
  id: "searchMail",
  may: "read",
  summary: "Search mail",
  note: "Query `q`, full text.",
  words: {
    description:
      "Messages in which **all** words of `q` stand: in the subject, From, To, Cc, the text or the " +
      "names of attachments; the newest first. Whole words are compared, whatever their case and " +
      "accents; Chinese, Japanese, Korean, Thai, Lao and Khmer in pairs of characters. An empty `q` " +
      "finds nothing.\n\nAll mail is searched where the relay has an index of it. Without, one answer " +
      "looks at 2,000 messages, or for 2 seconds: then it says `partial`, and `next_cursor` goes on. " +
      "Of messages whose parts are very large, the first 64 KiB of text are searched.",
    query: querySchema({ ...PAGE_QUERY, ...SEARCH_QUERY }),
    answers: { 200: unkept("What was found so far.", FoundPage) },
    errors: {
      not_found: NO_INBOX,
      unavailable: "too many searches are under way",
    },
  },
  handle(services: MailCore & { search: MailSearch }) {
    const { search, inboxes, pages, answers, inFlight, limits } = services;
    return async (request) => {
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
      const position = page.after === null ? null : page.after[0] as string;
      const { rows, next, isPartial } = await search.find(org.id, {
        ...query,
        inboxIds,
        position,
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
    };
  },
});

export const SEARCH_ROUTES = [searchMail];
