/** The HTML of a captured mail for the frame of its page: as its sender wrote it, able to do nothing. */
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import type { CapturedMail } from "./captured_mails.ts";
import { LOCAL_HEADERS } from "./local_route.ts";
import { readFile } from "./read_file.ts";

const POLICY = [
  "sandbox",
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "frame-ancestors 'self'",
].join("; ");

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
/** Pictures of the mail itself, and bytes of all of them each time that one is named, that are put into it. */
const MAX_PICTURES = 20;
const MAX_PICTURE_BYTES = 5 * 2 ** 20;

/** What a mail's HTML names elsewhere, to be told of and never loaded. @returns at most 50, each once */
export function remoteAddresses(html: string): string[] {
  const named = html.matchAll(
    /(?:\b(?:src|background|poster|data)\s*=\s*["']?|\burl\(\s*["']?)((?:https?:)?\/\/[^\s"'<>)]{1,500})/gi,
  );
  return [...new Set(Array.from(named, ([, url]) => url!))].slice(0, 50);
}

/**
 * The HTML with its own pictures in it. Elements that make browsers connect to a host before any policy is
 * asked, or lead elsewhere by themselves, become unknown ones.
 */
export async function framedHtml(
  { raw, content }: Pick<CapturedMail, "raw" | "content">,
): Promise<string> {
  let html = (content.parts.html ?? "").replaceAll(/<(link|meta|base)/gi, "<x-$1");
  let left = MAX_PICTURE_BYTES;
  const names = new Set(Array.from(html.matchAll(/\bcid:([^\s"'<>)]{1,200})/gi), ([, id]) => id!));
  if (names.size === 0) return html;
  for (let i = 0; i < Math.min(content.attachments.length, MAX_PICTURES); i++) {
    const file = await readFile(raw, i);
    if (file === null || file.contentId === null) continue;
    if (!PICTURE.test(file.contentType)) continue;
    for (const name of names) {
      if (decoded(name) !== file.contentId) continue;
      const sizeBytes = file.bytes.length * (html.split(`cid:${name}`).length - 1);
      if (sizeBytes > left) continue;
      left -= sizeBytes;
      const data = `data:${file.contentType};base64,${file.bytes.toBase64()}`;
      html = html.replaceAll(`cid:${name}`, () => data);
    }
  }
  return html;
}

export async function answerFrame(mail: CapturedMail): Promise<Response> {
  return answerWhole(await framedHtml(mail), {
    headers: {
      ...LOCAL_HEADERS,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "X-DNS-Prefetch-Control": "off",
    },
  });
}

/** A content id as its URL has it (RFC 2392). */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
