/**
 * The texts of a message as its blob keeps them: finished JSON in the names of the API, so that an
 * answer is put together from bytes, however large a text is. Pure; the worker makes them.
 */
import type { ParsedTexts } from "./parsed_mail.ts";

/** Code units of each text in a page of a thread (docs/mail.md, "Threads"). */
const HEAD_TEXT_BYTES = 64 * 1024;

const encoder = new TextEncoder();

/** Sections of a blob, as records/message_record.ts names them. */
export interface EncodedTexts {
  head: Uint8Array<ArrayBuffer>;
  rest: Uint8Array<ArrayBuffer>;
  /** Null where one of the others has all of it. */
  shown: Uint8Array<ArrayBuffer> | null;
}

/** The sections of a message's blob, as records/message_record.ts numbers them. */
export function sectionsOf(
  raw: Uint8Array<ArrayBuffer>,
  { head, rest, shown }: EncodedTexts,
): Uint8Array<ArrayBuffer>[] {
  return [raw, head, rest, ...(shown === null ? [] : [shown])];
}

export function encodeTexts(
  { text, html, shown, extractedText, headers, links }: ParsedTexts,
): EncodedTexts {
  const shownText = cutAtBytes(text, HEAD_TEXT_BYTES);
  const shownExtract = cutAtBytes(extractedText, HEAD_TEXT_BYTES);
  const seen = cutAtBytes(shown, HEAD_TEXT_BYTES);
  const truncated = shownText !== text || shownExtract !== extractedText;
  const head: ShownHead = {
    text: shownText,
    extracted_text: shownExtract,
    truncated,
    ...(seen === null ? {} : { shown: seen }),
  };
  const rest = { text, html, extracted_text: extractedText, headers, links };
  return {
    head: encoder.encode(JSON.stringify(head)),
    rest: encoder.encode(JSON.stringify(rest)),
    shown: seen === shown ? null : encoder.encode(JSON.stringify(shown)),
  };
}

/** A text within so many bytes of UTF-8, cut between code points. */
export function cutAtBytes<T extends string | null>(text: T, maxBytes: number): T {
  if (text === null || text.length * 3 <= maxBytes) return text;
  const room = new Uint8Array(maxBytes);
  const { read } = encoder.encodeInto(text, room);
  return (read === text.length ? text : text.slice(0, read)) as T;
}

/** What HEAD holds. */
export interface ShownHead {
  text: string | null;
  extracted_text: string | null;
  truncated: boolean;
  /** What mail programs show where that is not `text`; programs and agents of the API never see it. */
  shown?: string;
}

/** The text that mail programs show. */
export function shownTextOf({ text, shown }: Pick<ShownHead, "text" | "shown">): string | null {
  return shown ?? text;
}
