/** Refusals as responses; what several operations answer alike stands once, as a component. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ErrorCode } from "../errors.ts";
import { errorHeaders } from "./answer_headers.ts";
import { ERROR_CAUSES } from "./error_causes.ts";
import { errorsOf, type Refusals } from "./errors_of.ts";
import type { Operation } from "./operation.ts";
import { ERROR_SCHEMA, errorAnswer } from "./schemas/error_answer.ts";

type Registry = OpenAPIHono["openAPIRegistry"];

/** A refusal as a response object. */
export function refusalResponse({ status, causes }: Refusals) {
  const codes = Object.keys(causes) as ErrorCode[];
  const lines = codes.map((code) => `- \`${code}\`: ${causes[code]}; ${ERROR_CAUSES[code].next}.`);
  const isAddition = codes.every((code) => ERROR_CAUSES[code].addition);
  return {
    description: lines.join("\n"),
    ...(isAddition ? { "x-addition": true } : {}),
    headers: errorHeaders(status),
    content: { "application/json": { schema: errorAnswer(status, codes) } },
  };
}

/** Any refusal that no route answers of its own: of a path or method that is not there. */
export const OTHER_REFUSAL = "OtherRefusal";

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
  registry.registerComponent("responses", OTHER_REFUSAL, {
    description: "Another refusal, of which the code says what it is: 404 `not_found` for a path " +
      "that does not exist, 405 `method_not_allowed` with `Allow` for a method that the path does " +
      "not take.",
    headers: {
      "X-Request-Id": { $ref: "#/components/headers/RequestId" },
      Allow: { $ref: "#/components/headers/Allow" },
    },
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  });
  return names;
}

function componentName({ causes }: Refusals): string {
  const words = Object.keys(causes).map((code) =>
    code.split("_").map((word) => word[0]!.toUpperCase() + word.slice(1)).join("")
  );
  return words.join("Or");
}
