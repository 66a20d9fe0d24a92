/** GET /openapi.json and GET /v1/limits: what a relay tells programs of itself. */
import type { Deps } from "../parts/deps.ts";
import { answerJson, JSON_HEADERS } from "../http/answers/answer.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/answers/fixed_content.ts";
import type { Route } from "../http/routes/route.ts";
import { timestamp } from "../time/timestamp.ts";
import type { Description } from "./description.ts";

export function descriptionRoutes(
  { config, now }: Pick<Deps, "config" | "now">,
  describe: () => Promise<Description>,
): Route[] {
  let content: Promise<FixedContent> | undefined;
  async function write(): Promise<FixedContent> {
    const { document } = await describe();
    return await fixContent(JSON.stringify(document), JSON_HEADERS["Content-Type"]!);
  }
  return [
    {
      method: "GET",
      path: "/v1/limits",
      handle: () => answerJson({ limits: config.limits, server_time: timestamp(now()) }),
    },
    {
      method: "GET",
      path: "/openapi.json",
      handle: async (c) => answerFixed(c.req.raw, await (content ??= write())),
    },
  ];
}
