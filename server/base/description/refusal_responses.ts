/** Refusals as responses; what several operations answer alike stands once, as a component. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ErrorCode } from "../errors.ts";
import { errorHeaders } from "./answer_headers.ts";
import { ERROR_CAUSES } from "./error_causes.ts";
import { errorsOf, type Refusals } from "./errors_of.ts";
import type { Operation } from "./operation.ts";
import { ERROR_SCHEMA, errorAnswer } from "./schemas/error_answer.ts";

type Registry = OpenAPIHono["openAPIRegistry"];

/** What a refusal is besides JSON where people meet it. */
const PAGE = {
  "text/html": {
    schema: {
      type: "string",
      description: "The same as a page, where Accept names text/html.",
      "x-addition": true,
    },
  },
} as const;

/** A refusal as a response object. */
export function refusalResponse({ status, causes, page = false }: Refusals) {
  const codes = Object.keys(causes) as ErrorCode[];
  const lines = codes.map((code) => `- \`${code}\`: ${causes[code]}; ${ERROR_CAUSES[code].next}.`);
  const isAddition = codes.every((code) => ERROR_CAUSES[code].addition);
  return {
    description: lines.join("\n"),
    ...(isAddition ? { "x-addition": true } : {}),
    headers: errorHeaders(status, page, codes),
    content: {
      "application/json": { schema: errorAnswer(status, codes) },
      ...(page ? PAGE : {}),
    },
  };
}

/** Any refusal that no route answers of its own: of a path or method that is not there. */
export const OTHER_REFUSAL = "OtherRefusal";
/** The same where people meet it, so that clients of other routes expect JSON alone. */
export const OTHER_REFUSAL_OR_PAGE = "OtherRefusalOrPage";

export type SharedResponses = ReadonlyMap<string, string>;

/** What tells two refusals apart. */
export function refusalKey(refusals: Refusals): string {
  return JSON.stringify(refusals);
}

/**
 * Registers the refusals that more than one operation answers.
 * @returns component names by refusalKey
 */
export function shareRefusals(
  registry: Registry,
  operations: readonly Operation[],
): SharedResponses {
  const uses = new Map<string, { operation: Operation; refusals: Refusals; count: number }>();
  for (const operation of operations) {
    for (const refusals of errorsOf(operation)) {
      const key = refusalKey(refusals);
      const use = uses.get(key) ?? { operation, refusals, count: 0 };
      uses.set(key, { ...use, count: use.count + 1 });
    }
  }
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [key, { operation, refusals, count }] of uses) {
    // A response of the route's own stands beside the refusal: it cannot be shared.
    if (count < 2 || operation.answers[refusals.status] !== undefined) continue;
    const base = componentName(refusals);
    let name = base;
    for (let n = 2; taken.has(name); n++) name = `${base}${n}`;
    taken.add(name);
    names.set(key, name);
    registry.registerComponent("responses", name, refusalResponse(refusals));
  }
  registry.registerComponent("schemas", "Error", ERROR_SCHEMA);
  registry.registerComponent("responses", OTHER_REFUSAL, otherRefusal(false));
  registry.registerComponent("responses", OTHER_REFUSAL_OR_PAGE, otherRefusal(true));
  return names;
}

function otherRefusal(mayBePage: boolean) {
  return {
    description: "Another refusal, of which the code says what it is: 404 `not_found` for a path " +
      "that does not exist, 405 `method_not_allowed` with `Allow` for a method that the path does " +
      "not take." +
      (mayBePage
        ? " Paths that do not exist, outside /v1, /mcp, /health and /openapi.json, answer alike."
        : ""),
    headers: {
      ...errorHeaders(404, mayBePage),
      Allow: { $ref: "#/components/headers/Allow" },
    },
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Error" } },
      ...(mayBePage ? PAGE : {}),
    },
  };
}

function componentName({ causes, page }: Refusals): string {
  const words = Object.keys(causes).map((code) =>
    code.split("_").map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")
  );
  return [...words, ...(page ? ["Page"] : [])].join("Or");
}
