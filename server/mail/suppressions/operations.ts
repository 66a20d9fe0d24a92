/** Suppressed addresses in the API description (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { time } from "../../description/schemas/values.ts";
import { type DescribedRoutes, mailId, pageOf, PageQuery } from "../described.ts";

const Suppression = z.object({
  address: z.string(),
  reason: z.enum(["hard_bounce", "complaint"]),
  message_id: mailId("msg", "The message that it came of."),
  created_at: time("When."),
}).openapi("MailSuppression");

export function suppressionRoutes(): DescribedRoutes {
  return {
    listSuppressions: {
      description:
        "Addresses that the org's mail does not go to any more, the newest first: a mail " +
        "bounced there for good, or its reader complained. Sending to one is refused.",
      query: PageQuery,
      answers: {
        200: {
          description: "A page of addresses.",
          headers: ["Cache-Control"],
          content: { schema: pageOf(Suppression) },
        },
      },
    },
    liftSuppression: {
      description: "Lets mail go to the address again.",
      answers: { 204: { description: "Lifted." } },
      errors: { not_found: "the address is not suppressed" },
    },
  };
}
