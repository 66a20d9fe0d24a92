/** GET /network: the public figures as a page. */
import { fixedAnswers } from "../../base/description/fixed_answers.ts";
import { querySchema } from "../../base/description/schemas/queries.ts";
import { FEED_QUERY } from "../../messaging/network/routes.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import { answerFixedPage } from "../../base/pages/answer_page.ts";
import { LIVE, liveHeaders } from "../../base/pages/live_bar.ts";
import { PAGE, pageRoute } from "../../base/pages/page_route.ts";
import { networkPage, olderFeedPage } from "./network_page.ts";
import type { SiteServices } from "./site_services.ts";

const QUERY = { before_id: FEED_QUERY.before_id, live: LIVE };
const EVENTS = 50;
const LEADERS = 20;

export const readNetworkPage = pageRoute({
  path: "/network",
  id: "readNetworkPage",
  summary: "The public figures as a page",
  words: {
    description:
      "Totals, the last seven days, the leaderboard and the feed, for people. Up to a second old.",
    query: querySchema(QUERY),
    answers: fixedAnswers("The page.", PAGE),
  },
  handle({ figures, pages, furtherPages }: SiteServices) {
    /** One event more than a page has tells whether there are older ones. */
    async function feedPage(beforeId: number | undefined) {
      const events = await figures.feed({ limit: EVENTS + 1, beforeId });
      return { events: events.slice(0, EVENTS), hasOlder: events.length > EVENTS };
    }
    return async (c) => {
      const { before_id: beforeId, live } = readQuery(c.get("query"), QUERY);
      if (beforeId !== undefined) {
        const page = await furtherPages.get(
          `/network/${beforeId}`,
          async () => await olderFeedPage(await feedPage(beforeId)),
        );
        return answerFixedPage(c.req.raw, page, {}, false);
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
      return answerFixedPage(c.req.raw, page, liveHeaders(live));
    };
  },
});
