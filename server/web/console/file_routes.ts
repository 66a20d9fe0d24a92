/** Routes of what lies behind a message: its source, its whole text, its files, and its HTML for a frame. */
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { escapeHtml } from "../../mail/composing/reducing/clean_text.ts";
import { ownPictures } from "../../mail/composing/reducing/reduced_addresses.ts";
import { answerHtml, shownPictures, writeShownHtml } from "../../mail/drafts/answer_html.ts";
import { REST } from "../../mail/records/message_record.ts";
import { page, type SignedInVisit } from "./console_route.ts";
import type { WholeJson } from "./shown_mail.ts";

/** Larger HTML is not laid out: its text and its source are there. */
const HTML_BYTES = 2 * 1024 * 1024;

const SAFE = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

const source = page(
  {
    path: "/mail/messages/{id}/source",
    id: "readMessageSource",
    summary: "A message as it came",
    says: "Its bytes as they came, shown as text.",
    types: ["text/plain"],
  },
  async ({ api, params }) => {
    const { body } = await api.answer("GET", ["messages", params["id"]!, "raw"]);
    return new Response(body, {
      headers: { ...SAFE, "Content-Type": "text/plain; charset=utf-8" },
    });
  },
);

const wholeText = page(
  {
    path: "/mail/messages/{id}/text",
    id: "readMessageText",
    summary: "The whole text of a message",
    says: "Its text, where the page of the thread has the beginning alone.",
    types: ["text/plain"],
  },
  async ({ c, api, params, mail: { answers } }) => {
    const { text, extracted_text } = await api.get<WholeJson>(["messages", params["id"]!]);
    const bytes = new TextEncoder().encode(text ?? extracted_text ?? "");
    if (bytes.length > LARGE_ANSWER_BYTES) {
      c.set("reservation", answers.reserve(bytes.length, "agent"));
    }
    return new Response(bytes, {
      headers: { ...SAFE, "Content-Type": "text/plain; charset=utf-8" },
    });
  },
);

/** What of the API's answer goes on: none of what opens it to other origins. */
const KEPT = ["content-type", "content-disposition", "content-length"];

const attachment = page(
  {
    path: "/mail/messages/{id}/attachments/{attachment_id}",
    id: "readMessageAttachment",
    summary: "An attachment",
    says: "Its bytes, to be saved: under headers by which no browser runs them.",
    types: ["*/*"],
  },
  async ({ api, params }) => {
    const { id, attachment_id } = params;
    const { body, headers } = await api.answer("GET", [
      "messages",
      id!,
      "attachments",
      attachment_id!,
    ]);
    const kept = KEPT.flatMap((name) => headers.has(name) ? [[name, headers.get(name)!]] : []);
    return new Response(body, { headers: { ...Object.fromEntries(kept), ...SAFE } });
  },
);

const htmlFrame = page(
  {
    path: "/mail/messages/{id}/html",
    id: "readMessageHtml",
    summary: "The HTML of a message, in its frame",
    says:
      "Reduced to what shows and runs nothing, with its own pictures in it; what it would have " +
      "loaded from elsewhere is listed at its end.",
  },
  answerMessageHtml,
);

async function answerMessageHtml(visit: SignedInVisit): Promise<Response> {
  const { c, api, params, mail, session: { caller } } = visit;
  const { messages, reader, limits, answers } = mail;
  const id = params["id"]!;
  const row = await messages.find(caller, id);
  if (row.blob.sections[REST]!.sizeBytes > HTML_BYTES) {
    return answerHtml(new TextEncoder().encode(
      "<p>This mail is too large to be laid out. Its text and its source are on its page.",
    ));
  }
  const { html, attachments } = await api.get<WholeJson>(["messages", id]);
  const files = attachments.map(({ content_type, content_id, size, sha256 }) => ({
    contentType: content_type,
    contentId: content_id,
    sizeBytes: size,
    sha256,
  }));
  // In a worker, as everything that strangers wrote is read.
  const { html: reduced, remote } = await reader.reduce(html ?? "", ownPictures(files), row.orgId);
  const named = shownPictures(reduced, files);
  const pictures = named.length === 0 ? [] : await readPictures();
  const shown = writeShownHtml(reduced + remoteList(remote), pictures);
  if (shown.length > LARGE_ANSWER_BYTES) {
    c.set("reservation", answers.reserve(shown.length, "agent"));
  }
  return answerHtml(shown);

  async function readPictures() {
    const answer = await api.answer("GET", ["messages", id, "raw"]);
    const raw = new Uint8Array(await answer.arrayBuffer());
    const read = await reader.readAttachments(raw, named.map(({ sha256 }) => sha256), {
      parts: limits.mailParts,
      depth: limits.mailDepth,
    }, row.orgId);
    return named.flatMap((one, i) =>
      read[i] === null || read[i] === undefined ? [] : [{ ...one, content: read[i].bytes }]
    );
  }
}

/** What was not loaded, below the mail. */
function remoteList(remote: readonly string[]): string {
  if (remote.length === 0) return "";
  const list = remote.map((url) => `<li>${escapeHtml(url.slice(0, 300))}</li>`).join("");
  return `<hr><div dir="ltr" style="font: 13px sans-serif; color: #555; background-color: #fff">` +
    `Not loaded from elsewhere:<ul>${list}</ul></div>`;
}

export const FILE_ROUTES = [source, wholeText, attachment, htmlFrame];
