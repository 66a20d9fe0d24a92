/** Answers with a message: whole, or of a key that may not read it, its marks. */
import { BlobDamaged } from "../../../base/blobs/blobs.ts";
import type { Blobs } from "../../../base/blobs/blobs.ts";
import { answerJson, JSON_HEADERS, NO_STORE } from "../../../base/http/answers/answer.ts";
import { answerWhole } from "../../../base/http/answers/large_answer.ts";
import type { SendsInFlight } from "../statuses/sends_in_flight.ts";
import { type MessageRow, REST } from "../../records/message_record.ts";
import { damagedMessageJson, markedMessage, wholeMessageJson } from "./shown_message.ts";

export interface ShowWholeServices {
  blobs: Pick<Blobs, "read">;
  inFlight: Pick<SendsInFlight, "ofOne">;
}

/** @throws BlobDamaged */
export async function showWhole(services: ShowWholeServices, found: MessageRow): Promise<Response> {
  return await give(services, found, await services.blobs.read(found.blob, REST));
}

/**
 * Makes the answer to a change of a message ready before the change is committed: where it cannot be
 * given, nothing is changed. Texts that are damaged are no reason for that; the answer is without them.
 * @param isWhole whether the message is given, or its marks alone
 * @returns gives the message as changed
 */
export async function prepareAnswer(
  services: ShowWholeServices,
  { blob }: Pick<MessageRow, "blob">,
  isWhole: boolean,
): Promise<(changed: MessageRow) => Promise<Response>> {
  if (!isWhole) {
    return async (changed) => {
      const { row, now } = await services.inFlight.ofOne(changed);
      return answerJson(markedMessage(row, now), 200, NO_STORE);
    };
  }
  const rest = await services.blobs.read(blob, REST).catch((error) => {
    if (error instanceof BlobDamaged) return null;
    throw error;
  });
  return (changed) => give(services, changed, rest);
}

/** @param rest null where it is damaged */
async function give(
  { inFlight }: ShowWholeServices,
  found: MessageRow,
  rest: Uint8Array | null,
): Promise<Response> {
  const { row, now } = await inFlight.ofOne(found);
  const json = rest === null ? damagedMessageJson(row, now) : wholeMessageJson(row, rest, now);
  return answerWhole(json, { headers: { ...JSON_HEADERS, ...NO_STORE } });
}
