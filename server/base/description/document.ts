/** The API description: OpenAPI 3.1 (specification, section 9). */
import { createRoute, OpenAPIHono } from "@hono/zod-openapi";
import { VERSION } from "../version.ts";
import { answerHeaders, HEADER_COMPONENTS } from "./answer_headers.ts";
import { errorsOf } from "./errors_of.ts";
import { introduction } from "./introduction.ts";
import type { Answer, Content, Operation, Setting, Tag } from "./operation.ts";
import {
  OTHER_REFUSAL,
  OTHER_REFUSAL_OR_PAGE,
  refusalKey,
  refusalResponse,
  type SharedResponses,
  shareRefusals,
} from "./refusal_responses.ts";
import { headersOf, SECURITY_SCHEMES, securityOf } from "./security.ts";
import { describeTag, TAGS } from "./tags.ts";

type RouteConfig = Parameters<typeof createRoute>[0];
export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/**
 * The description of a relay as JSON.
 * @param operations of all its routes, in reading order
 * The library only writes the document: no route is served or validated by it.
 */
export function createDocument(
  setting: Setting,
  operations: readonly Operation[],
): OpenApiDocument {
  const library = new OpenAPIHono();
  const registry = library.openAPIRegistry;
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) {
    registry.registerComponent("securitySchemes", name, scheme);
  }
  for (const [name, header] of Object.entries(HEADER_COMPONENTS)) {
    registry.registerComponent("headers", name, header as never);
  }
  const shared = shareRefusals(registry, operations);
  for (const operation of operations) {
    registry.registerPath(createRoute(routeOf(operation, shared)));
  }
  const { webhooks: _, ...document } = library.getOpenAPI31Document({
    openapi: "3.1.1",
    info: {
      title: "Agent Messaging Relay",
      version: VERSION,
      description: introduction(setting),
      contact: { name: "Whoever runs this relay", url: setting.baseUrl },
      license: { name: "MIT", identifier: "MIT" } as { name: string },
    },
    servers: [{ url: setting.baseUrl, description: "This relay." }],
    tags: (Object.keys(TAGS) as Tag[]).map((name) => ({
      name,
      description: describeTag(name, setting.mailOn),
    })),
  });
  return document;
}

function routeOf(operation: Operation, shared: SharedResponses): RouteConfig {
  const { params, query, body } = operation;
  const headers = headersOf(operation);
  return {
    method: operation.method,
    path: operation.path,
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    ...(operation.addition === true ? { "x-addition": true } : {}),
    security: securityOf(operation.access, operation.accessOptional),
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : {
        body: {
          description: body.description,
          required: body.optional !== true,
          content: contentOf(body),
        },
      }),
    },
    responses: responsesOf(operation, shared),
  };
}

function responsesOf(operation: Operation, shared: SharedResponses): RouteConfig["responses"] {
  const responses: RouteConfig["responses"] = {};
  for (const [status, answer] of Object.entries(operation.answers)) {
    responses[status] = successOf(answer);
  }
  for (const refusals of errorsOf(operation)) {
    const { status } = refusals;
    const own = operation.answers[status];
    const name = shared.get(refusalKey(refusals));
    responses[status] = own !== undefined
      ? either(successOf(own), refusalResponse(refusals))
      : name !== undefined
      ? { $ref: `#/components/responses/${name}` }
      : refusalResponse(refusals);
  }
  const other = operation.page === true ? OTHER_REFUSAL_OR_PAGE : OTHER_REFUSAL;
  responses["4XX"] = { $ref: `#/components/responses/${other}` };
  return responses;
}

function successOf({ description, content, headers }: Answer) {
  return {
    description,
    headers: answerHeaders(headers),
    ...(content === undefined ? {} : { content: contentOf(content) }),
  };
}

/** A status that has a meaning of the route's own besides its refusals: a component, by reference. */
function either(
  own: ReturnType<typeof successOf>,
  refusal: ReturnType<typeof refusalResponse>,
) {
  const refused = refusal.content["application/json"].schema;
  const answered = own.content?.["application/json"]?.schema;
  if (answered !== undefined && !("$ref" in answered)) {
    throw new TypeError("an answer that shares its status with refusals is described by reference");
  }
  return {
    description: `${own.description}\n\nOr a refusal:\n${refusal.description}`,
    headers: { ...own.headers, ...refusal.headers },
    content: {
      // Such as a page that says the same to people.
      ...own.content,
      "application/json": {
        schema: answered === undefined ? refused : { anyOf: [refused, answered] },
      },
    },
  };
}

function contentOf(content: Content | readonly Content[]) {
  const all = Array.isArray(content) ? content as readonly Content[] : [content as Content];
  return Object.fromEntries(all.map(({ type = "application/json", schema, examples }) => [
    type,
    { schema, ...(examples === undefined ? {} : { examples: named(examples) }) },
  ]));
}

function named(examples: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}
