/** The words of a message as the index is fed with them: the tokens of the search, and no others. */
import type { Blobs } from "../../base/blobs/blobs.ts";
import { readHead } from "../mailbox/messages/read_head.ts";
import { HEAD, type MessageRow } from "../records/message_record.ts";
import { begunText, readWholeText, wholeSection } from "./searched_text.ts";
import { tokensOf } from "./tokens.ts";
import { BETWEEN_FIELDS, type IndexedMessage } from "./word_index.ts";

/** What the index has to know of a message; plain data. */
export interface MessageToIndex
  extends Pick<MessageRow, "id" | "createdAtMs" | "direction" | "textSource" | "blob"> {
  /** Subject and names. */
  fields: string[];
}

/**
 * Bytes of the section of a text over 64 KiB above which it is not indexed: a stranger's words may each be
 * another, and take seconds to be erased. Each search of the inbox reads such messages one by one.
 */
const MOST_TEXT_BYTES = 512 * 1024;
const JOINED = 4_096;

/** Reads a message. One whose text cannot be read, or is very long, has no words. */
export async function indexedMessage(
  blobs: Pick<Blobs, "read">,
  { fields, textSource, ...row }: MessageToIndex,
): Promise<IndexedMessage> {
  const { id, createdAtMs, direction } = row;
  const text = textSource === "none" ? "" : await textOf(blobs, row).catch(nullIfMalformed);
  const words = text === null ? null : joinedTokens([...fields, text]);
  return { id, createdAtMs, direction, words };
}

async function textOf(
  blobs: Pick<Blobs, "read">,
  row: Pick<MessageRow, "blob">,
): Promise<string | null> {
  if (row.blob.sections[HEAD]!.sizeBytes > MOST_TEXT_BYTES) return null;
  const head = await readHead({ blobs }, row);
  if (head === null) return null;
  const { text, isCut } = begunText(row, head);
  if (!isCut) return text;
  if (row.blob.sections[wholeSection(row)]!.sizeBytes > MOST_TEXT_BYTES) return null;
  return await readWholeText({ blobs }, row);
}

/** No message keeps those behind it out of the index. @throws what may pass */
function nullIfMalformed(error: unknown): null {
  if (error instanceof SyntaxError || error instanceof TypeError) return null;
  throw error;
}

function joinedTokens(fields: readonly string[]): string {
  const parts: string[] = [];
  let some: string[] = [];
  for (const field of fields) {
    for (const { value } of tokensOf(field)) {
      if (some.push(value) < JOINED) continue;
      parts.push(some.join(" "));
      some = [];
    }
    some.push(BETWEEN_FIELDS);
  }
  return [...parts, some.join(" ")].join(" ");
}
