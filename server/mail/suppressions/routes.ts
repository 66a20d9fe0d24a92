/** Routes of suppressed addresses: /v1/mail/suppressions. */
import { noContent } from "../../http/no_content.ts";
import type { ListPages } from "../list_pages.ts";
import type { MailHandlers } from "../mail_routes.ts";
import { unknownObject } from "../unknown_object.ts";
import { shownSuppression, type Suppressions } from "./suppressions.ts";

export interface SuppressionRouteServices {
  suppressions: Suppressions;
  pages: ListPages;
}

const MAX_ADDRESS = 254;

export function suppressionHandlers({ suppressions, pages }: SuppressionRouteServices) {
  return {
    async listSuppressions({ c, org }) {
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
    async liftSuppression(request) {
      const address = request.params["address"]!;
      if (address.length > MAX_ADDRESS) throw unknownObject("suppressed address");
      await suppressions.lift(request, address.toLowerCase());
      return noContent();
    },
  } satisfies MailHandlers;
}
