import type { Blobs } from "../../blobs/blobs.ts";
import type { ShownHead } from "../parsing/encoded_texts.ts";
import { HEAD, type MessageRow, REST, SHOWN } from "../records/message_record.ts";
import type { ShownTexts } from "./shown_texts.ts";

/**
 * The whole text of a message that mail programs show; null where it has none.
 * @throws BlobDamaged
 */
export async function readShownText(
  { blobs }: { blobs: Pick<Blobs, "read"> },
  { blob }: Pick<MessageRow, "blob">,
): Promise<string | null> {
  const read = async (section: number) =>
    JSON.parse(new TextDecoder().decode(await blobs.read(blob, section)));
  if (blob.sections[SHOWN] !== undefined) return await read(SHOWN) as string;
  const head: ShownHead = await read(HEAD);
  return head.shown ?? (await read(REST) as ShownTexts).text;
}
