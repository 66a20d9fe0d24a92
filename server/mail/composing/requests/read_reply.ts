/** Body of POST /v1/mail/messages/{id}/reply (docs/mail.md, "Answers and forwards"). Pure. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";
import type { MessageBodies, MessageLimits, NewAttachment } from "../../records/message_content.ts";
import { readAttachments } from "./read_attachments.ts";
import { readBodies, requireBody } from "./read_bodies.ts";
import { refuseNearNames } from "./refuse_near_names.ts";

const FIELDS = ["text", "html", "attachments", "reply_all"];

export interface ReplyRequest extends MessageBodies {
  attachments: NewAttachment[];
  /** Whether it goes to everybody whom the message names. */
  replyAll: boolean;
}

/**
 * What is to be answered; null counts as absent, unknown fields are ignored unless one was meant
 * for a known.
 * @throws RelayError `payload_too_large` or `invalid_json`, naming the field
 */
export function readReply(request: JsonObject, limits: MessageLimits): ReplyRequest {
  const bodies = readBodies(request, limits);
  refuseNearNames(request, FIELDS);
  requireBody(bodies);
  const replyAll = request["reply_all"] ?? false;
  if (typeof replyAll !== "boolean") throw invalidJson("reply_all must be true or false");
  return { ...bodies, replyAll, attachments: readAttachments(request["attachments"], limits) };
}
