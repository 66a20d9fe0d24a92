import { Buffer } from "node:buffer";
import { BlobDamaged } from "../../../base/blobs/blobs.ts";
import type { Blobs } from "../../../base/blobs/blobs.ts";
import type { FoundLink } from "../../reading/parsed/parsed_mail.ts";
import { type MessageRow, REST } from "../../records/message_record.ts";

/** The last member of REST. In a string a quote has a backslash before it, so that this is no text. */
const LINKS_BEGIN = ',"links":[';

/** The links of a message, without parsing the rest; none where its bytes are damaged. */
export async function readLinks(
  { blobs }: { blobs: Pick<Blobs, "read"> },
  row: Pick<MessageRow, "blob">,
): Promise<FoundLink[]> {
  try {
    const rest = await blobs.read(row.blob, REST);
    const bytes = Buffer.from(rest.buffer, rest.byteOffset, rest.length);
    const begin = bytes.lastIndexOf(LINKS_BEGIN);
    return begin < 0 ? [] : JSON.parse(`{${bytes.toString("utf8", begin + 1)}`).links;
  } catch (error) {
    if (error instanceof BlobDamaged) return [];
    throw error;
  }
}
