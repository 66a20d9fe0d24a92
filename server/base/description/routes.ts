/** GET /openapi.json and GET /v1/limits: what a relay tells programs of itself. */
import { z } from "@hono/zod-openapi";
import { DEFAULT_LIMITS, type Limits } from "../config/limits.ts";
import { answerJson, JSON_HEADERS } from "../http/answers/answer.ts";
import { answerFixed, fixContent } from "../http/answers/fixed_content.ts";
import { madeOnce } from "../bounds/made_once.ts";
import type { Deps } from "../parts/deps.ts";
import { timestamp } from "../time/timestamp.ts";
import { publicRoute } from "./declaration.ts";
import type { Description } from "./description.ts";
import { fixedAnswers } from "./fixed_answers.ts";
import { LIMIT_NOTES } from "./schemas/limit_notes.ts";
import { time } from "./schemas/values.ts";

const limitSchemas = Object.fromEntries(
  (Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]).map((name) => [
    name,
    z.int().min(0).openapi({ format: "int64", description: LIMIT_NOTES[name].what }),
  ]),
) as Record<keyof Limits, z.ZodInt>;

const LimitsInForce = z.object({
  limits: z.object(limitSchemas),
  server_time: time("The server's clock, against which signed timestamps are checked."),
}).openapi("LimitsInForce");

export const readLimits = publicRoute({
  method: "GET",
  path: "/v1/limits",
  id: "readLimits",
  tag: "Service",
  summary: "Limits in force",
  addition: true,
  words: {
    description: "Every limit that this relay's operator can set, with the value in force here, " +
      "and the server's clock: what to compare your own with when a timestamp is refused.",
    answers: { 200: { description: "The limits.", content: { schema: LimitsInForce } } },
  },
  handle: ({ limits, deps: { now } }: { limits: Limits; deps: Pick<Deps, "now"> }) => () =>
    answerJson({ limits, server_time: timestamp(now()) }),
});

/** An OpenAPI document: the part of it that this description describes. */
const OpenApiDocument = z.looseObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
}).openapi("OpenApiDocument");

export const readDescription = publicRoute({
  method: "GET",
  path: "/openapi.json",
  id: "readDescription",
  tag: "Service",
  summary: "This description",
  addition: true,
  words: {
    description: "OpenAPI 3.1, with the address and the limits of this relay. What is marked " +
      "`x-addition: true` is not in the service's specification.",
    answers: fixedAnswers("The description.", { schema: OpenApiDocument }),
  },
  handle({ describe }: { describe: () => Promise<Description> }) {
    const write = madeOnce(async () => {
      const { document } = await describe();
      return await fixContent(JSON.stringify(document), JSON_HEADERS["Content-Type"]!);
    });
    return async (c) => answerFixed(c.req.raw, await write());
  },
});
