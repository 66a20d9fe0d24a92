import { namesHtml } from "../../http/names_html.ts";

/**
 * Whether a browser asks, or a scanner of mail that acts as one: Accept names text/html, User-Agent
 * begins `Mozilla/`, or a Sec-Fetch header is there (mail page, "Confirm links"). Pure.
 */
export function isBrowser(request: Request): boolean {
  const { headers } = request;
  return namesHtml(request) || (headers.get("user-agent") ?? "").startsWith("Mozilla/") ||
    [...headers.keys()].some((name) => name.startsWith("sec-fetch-"));
}
