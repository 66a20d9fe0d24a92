/** A page as an answer, and as content that many are sent. */
import { NO_STORE } from "../http/answers/answer.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/answers/fixed_content.ts";
import { answerWhole } from "../http/answers/large_answer.ts";

const HTML = "text/html; charset=utf-8";
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
  /** Further headers; they win over every page's own. */
  headers?: Readonly<Record<string, string>>;
}

/** Headers of a page except its type; nobody may keep it unless the caller says otherwise. */
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

/** @param page as frame() makes it */
export function answerPage(
  page: string,
  { status = 200, referrerPolicy, headers }: PageAnswerOptions = {},
): Response {
  return answerWhole(page, {
    status,
    headers: {
      "Content-Type": HTML,
      ...pageHeaders(referrerPolicy),
      ...headers,
    },
  });
}

/** Headers of content that browsers ask for again each time, and get only where it changed. */
export const KEPT_PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...pageHeaders(),
  "Cache-Control": "no-cache",
};

/** A page that stays the same for a while, compressed once. @param page as frame() makes it */
export function fixPage(page: string): Promise<FixedContent> {
  return fixContent(page, HTML);
}

/** @param isShared as answerFixed() takes it */
export function answerFixedPage(
  request: Request,
  page: FixedContent,
  headers: Readonly<Record<string, string>> = {},
  isShared = true,
): Response {
  return answerFixed(request, page, { ...KEPT_PAGE_HEADERS, ...headers }, isShared);
}
