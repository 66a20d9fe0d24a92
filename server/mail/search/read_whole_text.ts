/** The text of a message as searches read it. */
import { Buffer } from "node:buffer";
import { BlobDamaged } from "../../base/blobs/blobs.ts";
import type { Blobs } from "../../base/blobs/blobs.ts";
import { type MessageRow, REST, SHOWN } from "../records/message_record.ts";

/** Sections over this size are not read: of such messages the first 64 KiB of text are searched. */
const MOST_REST_BYTES = 16 * 1024 * 1024;
/** Where the text of REST begins and ends; a quote inside a JSON string has a backslash before it. */
const TEXT_BEGINS = '{"text":"';
const TEXT_ENDS = '","html":';

/** The whole text that is shown; HEAD has only its beginning. Null where it is not read. */
export async function readWholeText(
  { blobs }: { blobs: Pick<Blobs, "read"> },
  row: MessageRow,
): Promise<string | null> {
  const section = row.blob.sections[SHOWN] === undefined ? REST : SHOWN;
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
  row: MessageRow,
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
