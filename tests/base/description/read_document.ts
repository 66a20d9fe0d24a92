/** The API description as clients get it. */
import assert from "node:assert/strict";
import type { TestRelay } from "../../support/relay.ts";

// deno-lint-ignore no-explicit-any -- a JSON document that tests walk
export type Json = any;

export interface DescribedRoute {
  /** As in "GET /v1/inbox". */
  name: string;
  operation: Json;
}

export async function readDocument(relay: Pick<TestRelay, "url">): Promise<Json> {
  const answer = await fetch(`${relay.url}/openapi.json`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  return await answer.json();
}

export function describedRoutes({ paths }: Json): DescribedRoute[] {
  return Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    }))
  );
}
