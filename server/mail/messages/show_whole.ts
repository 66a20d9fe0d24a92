/** Answers with a whole message. */
import type { Blobs } from "../../blobs/blobs.ts";
import { JSON_HEADERS, NO_STORE } from "../../http/answer.ts";
import { answerWhole } from "../../http/large_answer.ts";
import type { Sendings } from "../delivery/sending_now.ts";
import { type MessageRow, REST } from "../records/message_record.ts";
import { wholeMessageJson } from "./shown_message.ts";

/** @throws BlobDamaged */
export async function showWhole(
  { blobs, sendings }: { blobs: Pick<Blobs, "read">; sendings: Pick<Sendings, "ofOne"> },
  found: MessageRow,
): Promise<Response> {
  const rest = await blobs.read(found.blob, REST);
  const { row, now } = await sendings.ofOne(found);
  const json = wholeMessageJson(row, rest, now);
  return answerWhole(json, { headers: { ...JSON_HEADERS, ...NO_STORE } });
}
