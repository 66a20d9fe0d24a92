/**
 * Whether the request's Accept names text/html, by one word for word: `*` is what programs send.
 * Quality 0 names what is not wanted (RFC 9110, section 12.4.2).
 */
export function namesHtml(request: Request): boolean {
  const ranges = (request.headers.get("accept") ?? "").split(",");
  return ranges.some((range) =>
    /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*$/i.test(range)
  );
}
