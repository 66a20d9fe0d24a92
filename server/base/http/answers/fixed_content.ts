/**
 * Content that stays the same while the relay runs. It is compressed once, and sent only to clients
 * that do not have it.
 */
import { createHash } from "node:crypto";
import { acceptsGzip } from "./accept_encoding.ts";
import { answerWhole } from "./large_answer.ts";

export interface FixedContent {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
  /** Changes with the content. */
  version: string;
}

/** @param content text is sent as UTF-8 */
export async function fixContent(
  content: string | Uint8Array<ArrayBuffer>,
  type: string,
): Promise<FixedContent> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const version = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return { type, bytes, gzip: await new Response(compressed).bytes(), version };
}

/**
 * The content as a request wants it: compressed where it takes gzip, 304 where If-None-Match names
 * what it has (RFC 9110, sections 8.8.3 and 13.1.2).
 * @param isShared whether all such answers share these bytes; others are counted while they are taken
 */
export function answerFixed(
  request: Request,
  { type, bytes, gzip, version }: FixedContent,
  further: Readonly<Record<string, string>> = {},
  isShared = true,
): Response {
  const zipped = acceptsGzip(request.headers.get("accept-encoding"));
  const headers: Record<string, string> = {
    "Cache-Control": "no-cache",
    ...further,
    // Each representation has a tag of its own.
    "ETag": zipped ? `"${version}-gzip"` : `"${version}"`,
    "Vary": "Accept-Encoding",
  };
  if (hasVersion(request.headers.get("if-none-match"), version)) {
    return new Response(null, { status: 304, headers });
  }
  headers["Content-Type"] = type;
  if (zipped) headers["Content-Encoding"] = "gzip";
  return answerWhole(zipped ? gzip : bytes, { headers }, isShared);
}

/** Weak comparison: proxies weaken tags; either representation is the same content. */
function hasVersion(ifNoneMatch: string | null, version: string): boolean {
  return ifNoneMatch !== null && ifNoneMatch.split(",").some((item) => {
    const tag = item.trim();
    return tag === "*" || tag === `"${version}"` || tag === `"${version}-gzip"` ||
      tag === `W/"${version}"` || tag === `W/"${version}-gzip"`;
  });
}
