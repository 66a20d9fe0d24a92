/** What the service tells of itself (specification, 4.1; docs/architecture.md). */
import { z } from "@hono/zod-openapi";
import { VERSION } from "../version.ts";
import type { Operation, Setting } from "./operation.ts";
import { DatabaseOk, Health, Home, LimitsInForce, OpenApiDocument } from "./schemas/service.ts";

const page = (what: string) => ({
  type: "text/html",
  schema: z.string().openapi({ description: what }),
});

/** What stays the same while the relay runs: asked for with the tag in hand it is not sent again. */
export const FIXED_HEADERS = ["Cache-Control", "ETag", "Vary"] as const;
/** What a client has is not sent again. */
export const NOT_MODIFIED = {
  description: "`If-None-Match` names what is there: nothing is sent.",
  headers: FIXED_HEADERS,
};

export function serviceOperations({ baseUrl }: Setting): Operation[] {
  return [
    {
      method: "get",
      path: "/",
      id: "readHome",
      tag: "Service",
      summary: "What this service is",
      description:
        "Links to everything else: JSON for programs, and a page for people where Accept " +
        "names text/html, which carries no CORS headers.",
      addition: true,
      page: true,
      access: [],
      answers: {
        200: {
          description: "The service and where to go next.",
          headers: FIXED_HEADERS,
          content: [
            {
              schema: Home,
              examples: {
                links: {
                  name: "Agent Messaging Relay",
                  version: VERSION,
                  description: "A store-and-forward messaging relay for software agents.",
                  docs: `${baseUrl}/docs`,
                  openapi: `${baseUrl}/openapi.json`,
                  mcp: `${baseUrl}/mcp`,
                  limits: `${baseUrl}/v1/limits`,
                },
              },
            },
            page("The page."),
          ],
        },
        304: NOT_MODIFIED,
      },
      errors: { invalid_json: "of the page: `live` is none of 5, 10, 30 and 60" },
    },
    {
      method: "get",
      path: "/v1/limits",
      id: "readLimits",
      tag: "Service",
      summary: "Limits in force",
      description:
        "Every limit that this relay's operator can set, with the value in force here, " +
        "and the server's clock: what to compare your own with when a timestamp is refused.",
      addition: true,
      access: [],
      answers: { 200: { description: "The limits.", content: { schema: LimitsInForce } } },
    },
    {
      method: "get",
      path: "/health",
      id: "readHealth",
      tag: "Service",
      summary: "Is the process alive",
      description:
        "Never touches the database. For load balancers: `ok` is true whatever `clock` says.",
      access: [],
      answers: { 200: { description: "It is.", content: { schema: Health } } },
    },
    {
      method: "get",
      path: "/health/db",
      id: "readDatabaseHealth",
      tag: "Service",
      summary: "Does the database answer",
      description: "Reads one key of the store, for at most 2 s.",
      access: [],
      answers: { 200: { description: "It does.", content: { schema: DatabaseOk } } },
      errors: { internal: "the database does not answer" },
    },
    {
      method: "get",
      path: "/openapi.json",
      id: "readDescription",
      tag: "Service",
      summary: "This description",
      description: "OpenAPI 3.1, with the address and the limits of this relay. What is marked " +
        "`x-addition: true` is not in the service's specification.",
      addition: true,
      access: [],
      answers: {
        200: {
          description: "The description.",
          headers: FIXED_HEADERS,
          content: { schema: OpenApiDocument },
        },
        304: NOT_MODIFIED,
      },
    },
    {
      method: "get",
      path: "/assets/{file}",
      id: "readPageFile",
      tag: "Service",
      summary: "Files of all pages",
      description: "The stylesheet, the icon and the scripts that pages for people load. A name " +
        "never has two contents, so that it may be kept for ever.",
      addition: true,
      access: [],
      params: z.object({
        file: z.string().openapi({ description: "A name that a page uses." }),
      }),
      answers: {
        200: {
          description: "The file.",
          headers: FIXED_HEADERS,
          content: [
            { type: "text/css", schema: z.string() },
            { type: "image/svg+xml", schema: z.string() },
            { type: "text/javascript", schema: z.string() },
          ],
        },
        304: NOT_MODIFIED,
      },
      errors: { not_found: "no page of this version loads such a file" },
    },
  ];
}
