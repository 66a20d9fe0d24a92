/** One delivery event as the operator's gateway hands it in (docs/mail.md). Pure. */
import type { JsonValue } from "../../../../toolkit/json_value.ts";
import { RelayError } from "../../../base/errors.ts";
import { readTime } from "../../../base/http/fields/read_time.ts";
import { cleanEmail } from "../../records/email_address.ts";
import { isMailId } from "../../records/mail_id.ts";
import {
  detailOf,
  isHardBounce,
  type ReplyDetails,
} from "../../mailbox/statuses/classify_reply.ts";
import type { RecipientEvent, Trigger } from "../../mailbox/statuses/recipient_status.ts";

/** An event, and whom it is about. */
export interface DeliveryEvent {
  /** By the id of the message here, or by its Message-ID without brackets. */
  message: { id: string } | { rfcMessageId: string };
  /** Lowercased. */
  address: string;
  event: RecipientEvent;
}

const TRIGGERS = new Map<unknown, Trigger>([
  ["delivered", "reported_delivered"],
  ["bounced", "reported_bounced"],
  ["complained", "complained"],
]);

/** @returns null for one that is malformed */
export function readEvent(given: JsonValue): DeliveryEvent | null {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return null;
  const { type, recipient, bounce_type: bounceType = null, at } = given;
  const trigger = TRIGGERS.get(type);
  const message = messageOf(given["message_id"] ?? null, given["rfc_message_id"] ?? null);
  const address = unlessRefused(() => cleanEmail("recipient", recipient));
  const atMs = unlessRefused(() => readTime("at", at));
  const said = saidIn(given["smtp_code"] ?? null, given["enhanced_code"] ?? null, given["detail"]);
  const isBounceType = bounceType === null || bounceType === "hard" || bounceType === "soft";
  if (trigger === undefined || message === null || address === null || atMs === null) return null;
  if (said === null || !isBounceType) return null;
  const isHard = trigger === "reported_bounced" &&
    (bounceType === null ? isHardBounce(said, null) : bounceType === "hard");
  const { smtpCode, enhancedCode, detail } = said;
  const saysSomething = smtpCode !== null || enhancedCode !== null || detail !== null;
  const event = { trigger, isHard, atMs, ...(saysSomething ? { said } : {}) };
  return { message, address, event };
}

function messageOf(id: unknown, rfcMessageId: unknown): DeliveryEvent["message"] | null {
  if (id !== null) return typeof id === "string" && isMailId("msg", id) ? { id } : null;
  if (typeof rfcMessageId !== "string") return null;
  const bare = /^\s*<?([\x21-\x3b\x3d\x3f-\x7e]{1,250})>?\s*$/.exec(rfcMessageId)?.[1];
  return bare === undefined ? null : { rfcMessageId: bare };
}

/** @returns null where a field has another form */
function saidIn(
  smtpCode: unknown,
  enhancedCode: unknown,
  detail: unknown = null,
): ReplyDetails | null {
  const isCode = smtpCode === null ||
    typeof smtpCode === "number" && Number.isInteger(smtpCode) && smtpCode >= 200 && smtpCode < 600;
  const isEnhanced = enhancedCode === null ||
    typeof enhancedCode === "string" && /^[245]\.[0-9]{1,3}\.[0-9]{1,3}$/.test(enhancedCode);
  if (!isCode || !isEnhanced || (detail !== null && typeof detail !== "string")) return null;
  return { smtpCode, enhancedCode, detail: detail === null ? null : detailOf(detail) };
}

function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RelayError) return null;
    throw error;
  }
}
