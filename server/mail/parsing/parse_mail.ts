/**
 * What a message says: its bytes read as MIME (RFC 5322, RFC 2045 to 2047, RFC 2231), in stages. It
 * runs in the mail worker (docs/adr/0038). Pure; whatever the bytes are, nothing is thrown for them.
 */
import { describeAttachment, isAttachment } from "./attachments.ts";
import { findCodes } from "./codes.ts";
import { extractText } from "./extracted_text.ts";
import { fitLists } from "./fit_lists.ts";
import { readHtmlText } from "./html_text.ts";
import { removeInvisible } from "./invisible_characters.ts";
import type { FoundAttachment, ParseContext, ParsedMail, ParseWarning } from "./parsed_mail.ts";
import { applyPatch, emptyParsedMail, type ParsedPatch } from "./parsed_patch.ts";
import { cutText, joinTexts } from "./part_texts.ts";
import { linksOfText } from "./plain_links.ts";
import { previewOf } from "./preview.ts";
import { readRootHeaders } from "./root_headers.ts";
import { walkParts } from "./walk_parts.ts";

/** More are not described: the record has no room for them. */
const MAX_ATTACHMENTS = 200;

/** Parses in one go. */
export function parseMail(raw: Uint8Array, context: ParseContext): ParsedMail {
  const mail = emptyParsedMail();
  for (const patch of parseInStages(raw, context)) if (patch !== null) applyPatch(mail, patch);
  return mail;
}

/**
 * Parses stage by stage: headers, plain text, HTML, attachments, what the texts say. Each gives what
 * it found, so that what is dearest comes last and a parse that is ended early has the rest; null
 * where others may have a turn.
 * @param raw 0 or more bytes
 */
export function* parseInStages(
  raw: Uint8Array,
  context: ParseContext,
): Generator<ParsedPatch | null> {
  const warnings = new Set<ParseWarning>();
  const parts = yield* walkParts(raw, context.limits, warnings);
  const { facts, headers } = yield* readRootHeaders(raw, parts[0]!, context, warnings);
  let hidden = facts.hiddenTextRemoved;
  const lists = fitLists({ ...facts, attachments: [] }, warnings);
  yield { facts: { ...facts, ...lists }, texts: { headers }, warnings: [...warnings] };

  const clean = (text: string) => {
    const visible = removeInvisible(text);
    hidden ||= visible.removed;
    return visible.text;
  };
  const plain = yield* joinTexts(raw, parts, "text/plain", warnings);
  const plainText = plain === null ? null : clean(plain);
  if (plainText !== null) {
    const found = { textSource: "plain", hiddenTextRemoved: hidden } as const;
    yield { facts: found, texts: { text: plainText }, warnings: [...warnings] };
  }
  const html = yield* joinTexts(raw, parts, "text/html", warnings);
  if (html !== null) yield { texts: { html }, warnings: [...warnings] };

  const attachments: FoundAttachment[] = [];
  for (const [index, part] of parts.filter(isAttachment).slice(0, MAX_ATTACHMENTS).entries()) {
    const described = yield* describeAttachment(raw, part, index, warnings);
    hidden ||= described.hiddenRemoved;
    attachments.push(described.attachment);
  }
  const fitted = fitLists({ ...facts, ...lists, attachments }, warnings);
  const found = { attachments: fitted.attachments, hiddenTextRemoved: hidden };
  yield { facts: found, warnings: [...warnings] };

  // A part of white space alone, beside the HTML, says nothing.
  const isHtml = html !== null && (plainText === null || plainText.trim() === "");
  const converted = isHtml ? yield* readHtmlText(html) : null;
  if (converted?.hiddenRemoved) hidden = true;
  if (converted?.isTooComplex) warnings.add("too_complex");
  const text = converted === null ? plainText : cutText(clean(converted.text), warnings);
  if (text === null) return;
  const links = converted?.links ?? linksOfText(text);
  yield {
    facts: { textSource: isHtml ? "html" : "plain", hiddenTextRemoved: hidden },
    texts: { text, links },
    warnings: [...warnings],
  };
  const extractedText = yield* extractText(text);
  const preview = previewOf(extractedText);
  yield { facts: { preview }, texts: { extractedText } };
  yield { facts: { codes: findCodes(facts.subject, text) } };
}
