/** GET /openapi.json, GET /docs and GET /v1/limits: what a relay tells of itself. */
import type { Deps } from "../deps.ts";
import { answerJson, JSON_HEADERS } from "../http/answer.ts";
import { answerWhole } from "../http/large_answer.ts";
import type { Route } from "../http/route.ts";
import { timestamp } from "../timestamp.ts";
import { referenceRoutes } from "../web/reference.ts";

export function descriptionRoutes({ config, now }: Pick<Deps, "config" | "now">): Route[] {
  let document: Promise<Uint8Array<ArrayBuffer>> | undefined;
  return [
    {
      method: "GET",
      path: "/v1/limits",
      handle: () => answerJson({ limits: config.limits, server_time: timestamp(now()) }),
    },
    {
      method: "GET",
      path: "/openapi.json",
      handle: async () =>
        answerWhole(await (document ??= writeDocument(config)), { headers: JSON_HEADERS }, true),
    },
    ...referenceRoutes(config),
  ];
}

/** Loaded when first asked for: a relay starts and serves messages without its schemas. */
async function writeDocument(config: Deps["config"]): Promise<Uint8Array<ArrayBuffer>> {
  const { createDocument } = await import("./document.ts");
  return new TextEncoder().encode(JSON.stringify(createDocument(config)));
}
