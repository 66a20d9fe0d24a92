/** GET /network: the public figures as a page. */
import { answerFixed } from "../../base/http/answers/fixed_content.ts";
import { integer, readQuery } from "../../base/http/fields/query.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { MAX_ID } from "../../base/max_id.ts";
import { pageHeaders } from "../../base/pages/answer_page.ts";
import { LIVE_PARAMETER, liveHeaders } from "../../base/pages/live_bar.ts";
import { networkPage, olderFeedPage } from "./network_page.ts";
import type { SiteServices } from "./site_services.ts";

const PAGE_HEADERS = { ...pageHeaders(), "Cache-Control": "no-cache" };
const QUERY = { before_id: integer(1, MAX_ID, undefined), live: LIVE_PARAMETER };
const EVENTS = 50;
const LEADERS = 20;

export function networkPageRoute({ figures, pages, furtherPages }: SiteServices): Route {
  /** One event more than a page has tells whether there are older ones. */
  async function feedPage(beforeId: number | undefined) {
    const events = await figures.feed({ limit: EVENTS + 1, beforeId });
    return { events: events.slice(0, EVENTS), hasOlder: events.length > EVENTS };
  }

  return {
    method: "GET",
    path: "/network",
    page: true,
    cors: "none",
    async handle(c) {
      const { before_id: beforeId, live } = readQuery(c.get("query"), QUERY);
      if (beforeId !== undefined) {
        const page = await furtherPages.get(
          `/network/${beforeId}`,
          async () => await olderFeedPage(await feedPage(beforeId)),
        );
        return answerFixed(c.req.raw, page, PAGE_HEADERS, false);
      }
      const page = await pages.get(`/network ${live}`, async () => {
        const [totals, week, leaders, feed] = await Promise.all([
          figures.totals(),
          figures.week(),
          figures.leaders(),
          feedPage(undefined),
        ]);
        const first = { totals, week, leaders: leaders.slice(0, LEADERS), period: live };
        return await networkPage({ ...first, ...feed });
      });
      return answerFixed(c.req.raw, page, { ...PAGE_HEADERS, ...liveHeaders(live) });
    },
  };
}
