/** Routes of suppressed addresses: /v1/mail/suppressions (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { time } from "../../../base/description/schemas/values.ts";
import { noContent } from "../../../base/http/answers/no_content.ts";
import type { ListPages } from "../../access/list_pages.ts";
import { keyRoute } from "../../access/mail_route.ts";
import { mailId, pageOf, PageQuery, unkept } from "../../access/schemas.ts";
import { unknownObject } from "../../access/unknown_object.ts";
import { shownSuppression, type Suppressions } from "./suppressions.ts";

const MAX_ADDRESS = 254;

const Suppression = z.object({
  address: z.string(),
  reason: z.enum(["hard_bounce", "complaint"]),
  message_id: mailId("msg", "The message that it came of."),
  created_at: time("When."),
}).openapi("MailSuppression");

const listSuppressions = keyRoute({
  method: "GET",
  path: "/v1/mail/suppressions",
  id: "listSuppressions",
  may: "orgRead",
  summary: "List suppressed addresses",
  addition: true,
  words: {
    description:
      "Addresses that the org's mail does not go to any more, the newest first: a mail " +
      "bounced there for good, or its reader complained. Sending to one is refused.",
    query: PageQuery,
    answers: {
      200: unkept("A page of addresses.", pageOf(Suppression)),
    },
  },
  handle:
    ({ suppressions, pages }: { suppressions: Suppressions; pages: ListPages }) =>
    async ({ c, org }) => {
      const page = await pages.read(c, { org: org.id });
      const after = page.after === null
        ? null
        : { createdAtMs: page.after[0] as number, address: page.after[1] as string };
      const { suppressions: some, last } = await suppressions.list(org.id, after, page.limit);
      return page.answer(
        some.map(shownSuppression),
        last === null ? null : [last.createdAtMs, last.address],
      );
    },
});

const liftSuppression = keyRoute({
  method: "DELETE",
  path: "/v1/mail/suppressions/{address}",
  id: "liftSuppression",
  may: "orgWrite",
  summary: "Lift a suppression",
  addition: true,
  words: {
    description: "Lets mail go to the address again.",
    answers: { 204: { description: "Lifted." } },
    errors: { not_found: "the address is not suppressed" },
  },
  handle: ({ suppressions }: { suppressions: Suppressions }) => async (request) => {
    const address = request.params["address"]!;
    if (address.length > MAX_ADDRESS) throw unknownObject("suppressed address");
    await suppressions.lift(request, address.toLowerCase());
    return noContent();
  },
});

export const SUPPRESSION_ROUTES = [listSuppressions, liftSuppression];
