/** GET /openapi.json, GET /docs and GET /v1/limits: what a relay tells of itself. */
import type { Deps } from "../deps.ts";
import { answerJson, JSON_HEADERS } from "../http/answer.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/fixed_content.ts";
import type { Route } from "../http/route.ts";
import { timestamp } from "../timestamp.ts";
import type { Operation, Setting } from "./operation.ts";
import { referenceRoutes } from "../web/reference.ts";

/** The operations of a relay's routes, loaded when the description is first asked for. */
export type LoadOperations = () => Promise<{ describeOperations(setting: Setting): Operation[] }>;

export function descriptionRoutes(
  { config, now }: Pick<Deps, "config" | "now">,
  mailOn: boolean,
  loadOperations: LoadOperations,
): Route[] {
  let document: Promise<FixedContent> | undefined;
  return [
    {
      method: "GET",
      path: "/v1/limits",
      handle: () => answerJson({ limits: config.limits, server_time: timestamp(now()) }),
    },
    {
      method: "GET",
      path: "/openapi.json",
      handle: async (c) =>
        answerFixed(
          c.req.raw,
          await (document ??= writeDocument({ ...config, mailOn }, loadOperations)),
        ),
    },
    ...referenceRoutes(config),
  ];
}

/** Loaded when first asked for: a relay starts and serves messages without its schemas. */
async function writeDocument(
  setting: Setting,
  loadOperations: LoadOperations,
): Promise<FixedContent> {
  const { createDocument } = await import("./document.ts");
  const { describeOperations } = await loadOperations();
  const document = createDocument(setting, describeOperations(setting));
  return await fixContent(JSON.stringify(document), JSON_HEADERS["Content-Type"]!);
}
