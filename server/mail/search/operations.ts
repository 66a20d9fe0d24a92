/** The search in the API description. */
import { z } from "@hono/zod-openapi";
import type { DescribedRoutes } from "../access/paths.ts";
import { PageQuery } from "../access/schemas.ts";
import { MessageRow } from "../mailbox/shown/schemas.ts";
import { MAX_QUERY } from "./search_terms.ts";

const fragments = (what: string) =>
  z.array(z.string().max(160)).max(3).openapi({ description: what });

const FoundMessage = z.object({
  message: MessageRow,
  highlights: z.object({
    subject: fragments("The subject around what was found; plain text."),
    text: fragments("The same of the text."),
  }).openapi({ description: "At most 3 fragments in all." }),
}).openapi("MailFoundMessage");

const time = z.string().optional();

const SearchQuery = PageQuery.extend({
  q: z.string().openapi({
    description: `Words, and phrases in double quotes: at most ${MAX_QUERY} characters.`,
  }),
  inbox_id: z.string().optional().openapi({ description: "Id or address; all when absent." }),
  direction: z.enum(["inbound", "outbound"]).optional(),
  after: time.openapi({ description: "Messages of this time or later, RFC 3339." }),
  before: time.openapi({ description: "Messages of an earlier time, RFC 3339." }),
});

export function searchRoutes(): DescribedRoutes {
  return {
    searchMail: {
      description:
        "Messages in which **all** words of `q` stand: in the subject, From, To, Cc, the text or the " +
        "names of attachments; the newest first. Whole words are compared, whatever their case and " +
        "accents; Chinese, Japanese, Korean, Thai, Lao and Khmer in pairs of characters. An empty `q` " +
        "finds nothing.\n\nOne answer looks at 2,000 messages, or for 2 seconds: then it says " +
        "`partial`, and `next_cursor` goes on. Of messages whose parts are very large, the first 64 KiB " +
        "of text are searched.",
      query: SearchQuery,
      answers: {
        200: {
          description: "What was found so far.",
          headers: ["Cache-Control"],
          content: {
            schema: z.object({
              data: z.array(FoundMessage),
              next_cursor: z.string().nullable(),
              partial: z.literal(true).optional().openapi({
                description: "There are messages that were not looked at yet.",
              }),
            }),
          },
        },
      },
      errors: {
        not_found: "the org has no inbox with this id or address, or the key is for another",
        unavailable: "too many searches are under way",
      },
    },
  };
}
