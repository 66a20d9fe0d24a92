/** The HTML of a draft for the frame of its page: what goes out, shown as mail programs show it. */
import { NO_STORE } from "../../base/http/answers/answer.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { crlf } from "../composing/wire_form.ts";
import { escapeHtml } from "../composing/reducing/clean_text.ts";
import { ownPictures } from "../composing/reducing/reduced_addresses.ts";

/** Nothing runs, nothing comes from elsewhere, and no other site frames it. */
const POLICY = [
  "sandbox",
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "frame-ancestors 'self'",
].join("; ");

/** How a reduced HTML names a picture: nowhere else in it stands this. */
const sourceOf = (address: string) => ` src="${escapeHtml(address)}"`;

/** The attachments that an HTML names. */
export function shownPictures<A extends { contentType: string; contentId: string | null }>(
  html: string,
  attachments: readonly A[],
): (A & { contentId: string })[] {
  return ownPictures(attachments).filter(({ contentId }) =>
    html.includes(sourceOf(`cid:${contentId}`))
  );
}

/**
 * @param html reduced
 * @param pictures bytes of those that it names
 */
export function writeShownHtml(
  html: string,
  pictures: readonly { contentType: string; contentId: string; content: Uint8Array }[],
): Uint8Array<ArrayBuffer> {
  let shown = crlf(html);
  for (const { contentType, contentId, content } of pictures) {
    const data = `data:${contentType};base64,${content.toBase64()}`;
    shown = shown.replaceAll(sourceOf(`cid:${contentId}`), () => sourceOf(data));
  }
  return new TextEncoder().encode(shown);
}

export function answerHtml(shown: Uint8Array<ArrayBuffer>): Response {
  return answerWhole(shown, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      ...NO_STORE,
    },
  });
}
