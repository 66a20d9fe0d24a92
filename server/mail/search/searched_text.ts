/** What searches read of a message: whom it names, its files, and the text that is shown. */
import { Buffer } from "node:buffer";
import { BlobDamaged } from "../../base/blobs/blobs.ts";
import type { Blobs } from "../../base/blobs/blobs.ts";
import { type ShownHead, shownTextOf } from "../reading/parsed/encoded_texts.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import { type MessageRow, REST, SHOWN } from "../records/message_record.ts";

/** Sections over this size are not read: of such messages the first 64 KiB of text are searched. */
const MOST_REST_BYTES = 16 * 1024 * 1024;
/** Where the text of REST begins and ends; a quote inside a JSON string has a backslash before it. */
const TEXT_BEGINS = '{"text":"';
const TEXT_ENDS = '","html":';
const IN_A_RUN = /[\p{L}\p{N}\p{M}\p{So}\p{Cs}]/u;

/** Whom a message names, and its files. */
export function namesOf(
  { from, to, cc, attachments }: Pick<MessageRow, "from" | "to" | "cc" | "attachments">,
): string[] {
  const addresses: MailAddress[] = [...(from === null ? [] : [from]), ...to, ...cc];
  return [
    ...addresses.flatMap(({ name, address }) => name === null ? [address] : [name, address]),
    ...attachments.flatMap(({ filename }) => filename ?? []),
  ];
}

/**
 * The text as far as HEAD has it, and whether there is more. Where it is cut, a word that may be cut
 * with it is left out.
 */
export function begunText(
  row: Pick<MessageRow, "blob">,
  head: ShownHead | null,
): { text: string; isCut: boolean } {
  const text = head === null ? "" : shownTextOf(head) ?? "";
  const isCut = head?.shown === undefined
    ? head?.truncated === true
    : row.blob.sections[SHOWN] !== undefined;
  if (!isCut) return { text, isCut };
  let end = text.length;
  while (end > 0 && IN_A_RUN.test(text[end - 1]!)) end--;
  return { text: text.slice(0, end), isCut };
}

/** The section that has the whole text. */
export function wholeSection({ blob }: Pick<MessageRow, "blob">): number {
  return blob.sections[SHOWN] === undefined ? REST : SHOWN;
}

/** The whole text that is shown; HEAD has only its beginning. Null where it is not read. */
export async function readWholeText(
  { blobs }: { blobs: Pick<Blobs, "read"> },
  row: Pick<MessageRow, "blob">,
): Promise<string | null> {
  const section = wholeSection(row);
  if (row.blob.sections[section]!.sizeBytes > MOST_REST_BYTES) return null;
  const bytes = await readSection(blobs, row, section);
  if (section === SHOWN) return bytes === null ? null : JSON.parse(bytes.toString()) as string;
  if (bytes === null || !bytes.subarray(0, TEXT_BEGINS.length).equals(Buffer.from(TEXT_BEGINS))) {
    return null;
  }
  const end = bytes.indexOf(TEXT_ENDS);
  return end < 0
    ? null
    : JSON.parse(bytes.subarray(TEXT_BEGINS.length - 1, end + 1).toString()) as string;
}

async function readSection(
  blobs: Pick<Blobs, "read">,
  row: Pick<MessageRow, "blob">,
  section: number,
): Promise<Buffer | null> {
  try {
    const bytes = await blobs.read(row.blob, section);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  } catch (error) {
    if (error instanceof BlobDamaged) return null; // the search goes on without it
    throw error;
  }
}
