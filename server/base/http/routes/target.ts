/** The request target: path and query exactly as they stand in request.url. */

/** Path for a target that no route can have; Hono's router fails on an empty one. */
const NO_PATH = "*";

/**
 * Raw path of a request, up to `?`, undecoded and not normalised: what is matched and what is
 * signed. The whole URL keeps whatever the request line held, absolute form and `*` included.
 */
export function rawPath(request: Request): string {
  // A Host header with a delimiter in it would shift where the path seems to begin.
  const { headers } = request;
  // has() has the runtime take all headers over at once: get() alone would ask it for each.
  const host = headers.has("host") ? headers.get("host") : null;
  if (host !== null && /[/?#\\@]/.test(host)) return NO_PATH;
  const url = request.url;
  const start = authorityEnd(url);
  const end = url.indexOf("?", start);
  const path = end < 0 ? url.slice(start) : url.slice(start, end);
  // The absolute form may leave an empty path out (RFC 9112, section 3.2.2).
  return path === "" && start > 0 ? "/" : path;
}

/** Raw query of a URL as rawPath takes its path: without `?`, empty when there is none. */
export function rawQuery(url: string): string {
  if (!url.includes("?")) return "";
  const mark = url.indexOf("?", authorityEnd(url));
  return mark < 0 ? "" : url.slice(mark + 1);
}

/** Index behind scheme and authority; 0 for a target that has neither, such as `*`. */
function authorityEnd(url: string): number {
  const scheme = url.indexOf("://");
  if (scheme < 0) return 0;
  let index = scheme + 3;
  for (; index < url.length; index++) {
    const character = url.charCodeAt(index);
    if (character === 0x2f || character === 0x3f || character === 0x23) break; // "/", "?", "#"
  }
  return index;
}

/**
 * A path segment percent-decoded once, without trimming.
 * @returns undefined for malformed escapes, invalid UTF-8, and `/` or control characters after decoding
 */
export function decodeSegment(segment: string): string | undefined {
  let decoded = segment;
  if (segment.includes("%")) {
    try {
      decoded = decodeURIComponent(segment);
    } catch {
      return undefined;
    }
  }
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return /[/\u0000-\u001f\u007f-\u009f]/.test(decoded) ? undefined : decoded;
}
