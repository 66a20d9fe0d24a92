/** Body of POST /v1/mail/messages/{id}/forward (docs/mail.md, "Answers and forwards"). Pure. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import type { MessageLimits, Recipients } from "../../records/message_content.ts";
import { readAddresses, uniqueRecipients } from "./read_addresses.ts";
import { readBodies } from "./read_bodies.ts";
import { refuseNearNames } from "./refuse_near_names.ts";
import { requireRecipient, withoutNulls } from "./read_send.ts";

const FIELDS = ["to", "cc", "bcc", "text"];

export interface ForwardRequest extends Recipients {
  /** What stands above the message; null for nothing. */
  text: string | null;
}

/**
 * Where a message is to go on to; null counts as absent, unknown fields are ignored unless one was
 * meant for a known.
 * @throws RelayError `payload_too_large`, `invalid_json` or `invalid_email`, naming the field
 */
export function readForward(request: JsonObject, limits: MessageLimits): ForwardRequest {
  const given = withoutNulls(request);
  const { text } = readBodies({ text: given["text"] ?? null }, limits);
  refuseNearNames(request, FIELDS);
  const recipients = requireRecipient({
    to: readAddresses("to", given["to"]),
    cc: readAddresses("cc", given["cc"]),
    bcc: readAddresses("bcc", given["bcc"]),
  });
  return { ...uniqueRecipients(recipients, limits), text };
}
