/** What the service tells of itself (specification, 4.1; GET /v1/limits is an addition). */
import { z } from "@hono/zod-openapi";
import { DEFAULT_LIMITS, type Limits } from "../../config/limits.ts";
import { LIMIT_NOTES } from "./limit_notes.ts";
import * as value from "./values.ts";

export const Home = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  docs: z.url(),
  openapi: z.url(),
  mcp: z.url(),
  limits: z.url(),
}).openapi("Home");

/** Plain booleans: of an enum of true alone some generators make a class that refuses true. */
export const Ok = z.object({ ok: z.boolean() }).openapi("Ok");

export const Health = z.object({
  ok: z.boolean(),
  clock: z.object({
    state: z.enum(["unsure", "behind", "impossible"]).openapi({
      description: "unsure: it leapt ahead, and what would write is answered 503 until it has " +
        "stayed for a minute; behind: it is before a time by which things were decided, and " +
        "nothing is refused by that; impossible: it is not between 2025 and 2090, and what would " +
        "write is answered 503 until it is set right.",
    }),
    ahead_ms: z.int().openapi({ format: "int64", description: "unsure: by how much it leapt." })
      .optional(),
    left_ms: value.count("unsure: after so many milliseconds it is taken for right.").optional(),
    until: value.time("behind: that later time.").optional(),
  }).openapi({
    "x-addition": true,
    description: "Absent while the relay's clock can be relied on.",
  }).optional(),
}).openapi("Health");

export const DatabaseOk = z.object({ ok: z.boolean(), db: z.boolean() }).openapi("DatabaseOk");

const limitSchemas = Object.fromEntries(
  (Object.keys(DEFAULT_LIMITS) as (keyof Limits)[]).map((name) => [
    name,
    z.int().min(0).openapi({ format: "int64", description: LIMIT_NOTES[name].what }),
  ]),
) as Record<keyof Limits, z.ZodInt>;

export const LimitsInForce = z.object({
  limits: z.object(limitSchemas),
  server_time: value.time("The server's clock, against which signed timestamps are checked."),
}).openapi("LimitsInForce");

/** An OpenAPI document, as far as this description describes itself. */
export const OpenApiDocument = z.looseObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
}).openapi("OpenApiDocument");
