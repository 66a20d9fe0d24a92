/** GET /contact: who runs this relay. */
import { html } from "hono/html";
import type { Config } from "../../base/config/config.ts";
import {
  answerFixed,
  fixContent,
  type FixedContent,
} from "../../base/http/answers/fixed_content.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { pageHeaders } from "../../base/pages/answer_page.ts";
import { frame } from "../../base/pages/frame.ts";
import { notice } from "../../base/pages/notice.ts";

const PAGE_HEADERS = { ...pageHeaders(), "Cache-Control": "no-cache" };

export function contactRoute({ operatorContact }: Pick<Config, "operatorContact">): Route {
  let page: Promise<FixedContent> | undefined;
  const fix = async () =>
    await fixContent(await contactPage(operatorContact), "text/html; charset=utf-8");
  return {
    method: "GET",
    path: "/contact",
    page: true,
    cors: "none",
    handle: async (c) => answerFixed(c.req.raw, await (page ??= fix()), PAGE_HEADERS),
  };
}

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
