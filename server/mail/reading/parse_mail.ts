/**
 * What a message says: its bytes read as MIME (RFC 5322, RFC 2045 to 2047, RFC 2231), in stages. It
 * runs in the mail worker (docs/adr/0038). Pure; whatever the bytes are, nothing is thrown for them.
 */
import { describeAttachment } from "./mime/attachments.ts";
import { readBodyTexts } from "./body_texts.ts";
import { findCodes } from "./text/codes.ts";
import { extractText } from "./text/extracted_text.ts";
import { fitLists } from "./parsed/fit_lists.ts";
import { removeInvisible } from "./mime/invisible_characters.ts";
import { mailKind } from "./text/mail_kind.ts";
import type {
  FoundAttachment,
  ParseContext,
  ParsedMail,
  ParseWarning,
} from "./parsed/parsed_mail.ts";
import { applyPatch, emptyParsedMail, type ParsedPatch } from "./parsed/parsed_patch.ts";
import { joinTexts, readTexts } from "./mime/part_texts.ts";
import { readRootHeaders } from "./mime/root_headers.ts";
import { readShownParts } from "./mime/shown_parts.ts";
import { walkParts } from "./mime/walk_parts.ts";

/** More are not described: the record has no room for them. */
const MAX_ATTACHMENTS = 200;
const PREVIEW_CODE_POINTS = 200;

/** Parses in one go. */
export function parseMail(raw: Uint8Array, context: ParseContext): ParsedMail {
  const mail = emptyParsedMail();
  for (const patch of parseInStages(raw, context)) if (patch !== null) applyPatch(mail, patch);
  return mail;
}

/**
 * Parses stage by stage: headers, plain text, HTML, attachments, what the texts say. Each gives what
 * it found, so that what is dearest comes last and a parse that is ended early has the rest; null
 * where others may run.
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

  const shownParts = readShownParts(parts);
  const bodies = [
    ...shownParts.shown,
    ...shownParts.alternatives.flatMap(({ others }) => others.flat()),
  ]
    .sort((a, b) => a.start - b.start);
  const plain = yield* readTexts(raw, bodies, "text/plain", warnings);
  const plainTexts = shownParts.plain.flatMap((part) => plain.get(part) ?? []);
  if (plainTexts.length > 0) {
    const visible = removeInvisible(joinTexts(plainTexts));
    hidden ||= visible.removed;
    const found = { textSource: "plain", hiddenTextRemoved: hidden } as const;
    yield { facts: found, texts: { text: visible.text }, warnings: [...warnings] };
  }
  const html = yield* readTexts(raw, bodies, "text/html", warnings);
  const htmlTexts = shownParts.shown.flatMap((part) => html.get(part) ?? []);
  if (htmlTexts.length > 0) {
    yield { texts: { html: joinTexts(htmlTexts) }, warnings: [...warnings] };
  }

  const attachments: FoundAttachment[] = [];
  for (const [index, part] of shownParts.attachments.slice(0, MAX_ATTACHMENTS).entries()) {
    const described = yield* describeAttachment(raw, part, index, warnings);
    hidden ||= described.hiddenRemoved;
    attachments.push(described.attachment);
  }
  const fitted = fitLists({ ...facts, ...lists, attachments }, warnings);
  const found = { attachments: fitted.attachments, hiddenTextRemoved: hidden };
  yield { facts: found, warnings: [...warnings] };

  const { shown, text, textSource, links, quotes, hiddenRemoved } = yield* readBodyTexts(
    shownParts,
    { plain, html },
    warnings,
  );
  hidden ||= hiddenRemoved;
  yield {
    facts: { textSource, hiddenTextRemoved: hidden },
    texts: { text, shown: shown === text ? null : shown, links },
    warnings: [...warnings],
  };
  if (shown === null) return;
  const extracted = yield* extractText(shown, { kind: mailKind(facts), quotes });
  const preview = previewOf(extracted.text);
  yield {
    facts: { preview, signature: extracted.signature },
    texts: { extractedText: extracted.text },
  };
  yield { facts: { codes: findCodes(facts.subject, shown) } };
}

/**
 * The line by which a list shows a message: the first 200 code points of a text, its white space
 * collapsed; "" of none. A pair of surrogates is never cut. Reads no more of the text than it needs.
 * @param extracted the text without quoted former messages, null where a message has none
 */
export function previewOf(extracted: string | null): string {
  if (extracted === null) return "";
  let line = "";
  // A code point has at most two code units.
  for (const [word] of extracted.matchAll(/\S+/g)) {
    line += (line === "" ? "" : " ") + word.slice(0, 2 * PREVIEW_CODE_POINTS);
    if (line.length >= 2 * PREVIEW_CODE_POINTS) break;
  }
  return [...line].slice(0, PREVIEW_CODE_POINTS).join("");
}
