/** Checks every answer of a relay's application against the API description. */
import { CONSOLE_ROUTES } from "../../server/web/console/part.ts";
import { gunzipSync } from "node:zlib";
import type { Relay } from "../../server/relay.ts";
import { rawPath } from "../../server/base/http/routes/target.ts";
import { type AnswerChecker, createAnswerChecker } from "./answer_checker.ts";

export interface CheckedApp {
  fetch: Relay["app"]["fetch"];
  /** @throws Error naming every kind of answer that was not as described */
  assertDescribed(): void;
}

/** One checker for all relays of a test process: compiling schemas takes longer than a test. */
const checkers = new Map<boolean, AnswerChecker>();

/** Paths of pages behind sessions of their own. */
const PAGES = [
  /^\/(?:admin|inbox)(?:\/|$)/,
  ...CONSOLE_ROUTES.map(({ path }) => new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, "[^/]+")}$`)),
];

/** @param localMode whether /dev is there, which is no part of the API */
export function checkAnswers(
  app: Pick<Relay["app"], "fetch">,
  mailOn = false,
  localMode = false,
): CheckedApp {
  const faults = new Set<string>();
  const checker = checkers.get(mailOn) ?? createAnswerChecker(mailOn);
  checkers.set(mailOn, checker);
  const { check } = checker;
  return {
    async fetch(request: Request, ...rest: unknown[]) {
      const path = rawPath(request);
      const answer: Response = await (app.fetch as CheckedFetch)(request, ...rest);
      if (localMode && path.startsWith("/dev/")) return answer;
      // Pages behind sessions of their own are no part of the API.
      if (PAGES.some((page) => page.test(path))) return answer;
      const { status, headers } = answer;
      // It has no end to wait for.
      if (headers.get("content-type")?.startsWith("text/event-stream")) return answer;
      const isHead = request.method === "HEAD";
      const bytes = answer.body === null || isHead ? null : await answer.bytes();
      const isZipped = headers.get("content-encoding") === "gzip";
      const plain = bytes !== null && isZipped ? gunzipSync(bytes) : bytes;
      const text = plain === null ? "" : new TextDecoder().decode(plain);
      for (const fault of check({ method: request.method, path, status, headers, text })) {
        faults.add(fault);
      }
      return new Response(isHead ? answer.body : bytes, { status, headers });
    },
    assertDescribed() {
      if (faults.size === 0) return;
      throw new Error(`answers that are not as described:\n${[...faults].join("\n")}`);
    },
  };
}

type CheckedFetch = (request: Request, ...rest: unknown[]) => Promise<Response> | Response;
