/** A browser at the operator's pages, or what pretends to be one. */
import assert from "node:assert/strict";
import { type Answer, ask } from "../../support/answer.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import type { TestRelay } from "../../support/relay.ts";

export interface Visit {
  method?: "GET" | "HEAD" | "POST";
  /** As Cookie has it. */
  cookie?: string;
  /** The relay's own unless given; null for none. */
  origin?: string | null;
  form?: Record<string, string>;
  headers?: Record<string, string>;
}

/** As a browser asks, without following where it is led. */
export function visit(relay: TestRelay, path: string, options: Visit = {}): Promise<Answer> {
  const { form, cookie, origin = relay.url, headers = {} } = options;
  const { method = form === undefined ? "GET" : "POST" } = options;
  return ask(`${relay.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      Accept: "text/html",
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...(method !== "POST" || origin === null ? {} : { Origin: origin }),
      ...headers,
    },
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
  });
}

/** @returns the cookie as a browser sends it back */
export async function signIn(relay: TestRelay, token = ADMIN_TOKEN): Promise<string> {
  const answer = await visit(relay, "/admin/sign-in", { form: { token } });
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/admin"], answer.text);
  return answer.headers.get("set-cookie")!.split(";")[0]!;
}

export const isSignedIn = async (relay: TestRelay, cookie?: string) =>
  (await visit(relay, "/admin", { cookie })).text.includes('action="/admin/sign-out"');

export function assertKeptByNobody({ headers }: Answer): void {
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("x-robots-tag"), "noindex, nofollow");
  assert.equal(headers.get("access-control-allow-origin"), null);
  assert.match(headers.get("content-security-policy")!, /frame-ancestors 'none'/);
}
