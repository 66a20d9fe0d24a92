import { BlobDamaged } from "../../../base/blobs/blobs.ts";
import type { Blobs } from "../../../base/blobs/blobs.ts";
import type { ShownHead } from "../../reading/parsed/encoded_texts.ts";
import { HEAD, type MessageRow } from "../../records/message_record.ts";

/** The beginning of a message's texts; null where its bytes are damaged: a page goes on without it. */
export async function readHead(
  { blobs }: { blobs: Pick<Blobs, "read"> },
  row: Pick<MessageRow, "blob">,
): Promise<ShownHead | null> {
  try {
    return JSON.parse(new TextDecoder().decode(await blobs.read(row.blob, HEAD)));
  } catch (error) {
    if (error instanceof BlobDamaged) return null;
    throw error;
  }
}
