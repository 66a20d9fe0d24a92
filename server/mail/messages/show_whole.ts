/** Answers with a whole message. */
import type { Blobs } from "../../blobs/blobs.ts";
import { JSON_HEADERS, NO_STORE } from "../../http/answer.ts";
import { answerWhole } from "../../http/large_answer.ts";
import { type MessageRow, REST } from "../records/message_record.ts";
import { wholeMessageJson } from "./shown_message.ts";

/** @throws BlobDamaged */
export async function showWhole(
  { blobs }: { blobs: Pick<Blobs, "read"> },
  row: MessageRow,
): Promise<Response> {
  const json = wholeMessageJson(row, await blobs.read(row.blob, REST));
  return answerWhole(json, { headers: { ...JSON_HEADERS, ...NO_STORE } });
}
