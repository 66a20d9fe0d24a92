/** A page as an answer. */
import { NO_STORE } from "../http/answers/answer.ts";
import { answerWhole } from "../http/answers/large_answer.ts";

/** Everything comes from the relay itself; nothing stands inside a page but words. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * "same-origin" for a page with a form whose POST checks its Origin: under "no-referrer" browsers send
 * `Origin: null` with it. Neither tells another host anything.
 */
export type ReferrerPolicy = "no-referrer" | "same-origin";

export interface PageAnswerOptions {
  /** 200 unless given. */
  status?: number;
  /** "no-referrer" unless given. */
  referrerPolicy?: ReferrerPolicy;
  /** Further headers; they win over those of every page. */
  headers?: Readonly<Record<string, string>>;
}

/** Headers of a page besides its type; it is kept by nobody unless the caller says otherwise. */
export function pageHeaders(
  referrerPolicy: ReferrerPolicy = "no-referrer",
): Record<string, string> {
  return {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": referrerPolicy,
    ...NO_STORE,
  };
}

/** Of pages that are asked for again each time, and sent only where they changed. */
export const FIXED_PAGE_HEADERS = { ...pageHeaders(), "Cache-Control": "no-cache" };

/** @param page as frame() makes it */
export function answerPage(
  page: string,
  { status = 200, referrerPolicy, headers }: PageAnswerOptions = {},
): Response {
  return answerWhole(page, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      ...pageHeaders(referrerPolicy),
      ...headers,
    },
  });
}
