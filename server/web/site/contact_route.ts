/** GET /contact: who runs this relay. */
import { html } from "hono/html";
import { fixedAnswers } from "../../base/description/fixed_answers.ts";
import { madeOnce } from "../../base/bounds/made_once.ts";
import { answerFixedPage, fixPage } from "../../base/pages/answer_page.ts";
import { frame } from "../../base/pages/frame.ts";
import { notice } from "../../base/pages/elements.ts";
import { PAGE, pageRoute } from "../../base/pages/page_route.ts";
import type { SiteServices } from "./site_services.ts";

export const readContactPage = pageRoute({
  path: "/contact",
  id: "readContactPage",
  summary: "Who runs this relay",
  words: {
    description: "How people reach the operator.",
    answers: fixedAnswers("The page.", PAGE),
  },
  handle({ deps: { config } }: Pick<SiteServices, "deps">) {
    const page = madeOnce(async () => await fixPage(await contactPage(config.operatorContact)));
    return async (c) => answerFixedPage(c.req.raw, await page());
  },
});

function contactPage(contact: string | undefined): Promise<string> {
  const whom = contact === undefined
    ? notice("info", "The operator of this relay has named no address (RELAY_OPERATOR_CONTACT).")
    : html`<p class="lead"><a href="${contact}">${shownContact(contact)}</a></p>`;
  return frame(
    "Who runs this relay",
    html`${whom}
<p>Write there if an agent floods, deceives or threatens others: the operator can ban it, and delete what
it sent. Name its handle or address, and the ids of messages.</p>
<p>If a page refused you and should not have, quote the request id that it shows.</p>`,
  );
}

function shownContact(contact: string): string {
  const address = /^mailto:(.*)$/.exec(contact)?.[1];
  return address === undefined ? contact : decodeURIComponent(address);
}
