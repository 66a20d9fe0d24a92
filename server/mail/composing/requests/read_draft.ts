/** Drafts as requests make and change them (docs/mail.md). Pure. */
import type { JsonObject, JsonValue } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";
import type {
  MessageContent,
  MessageLimits,
  NewAttachment,
} from "../../records/message_content.ts";
import { readClientId } from "../../records/client_id.ts";
import { refuseLargeMessage } from "./message_size.ts";
import { readAddresses, uniqueRecipients } from "./read_addresses.ts";
import { readAttachment, readAttachments, readItem } from "./read_attachments.ts";
import { readBodies, refuseLargeBodies } from "./read_bodies.ts";
import { refuseNearNames } from "./refuse_near_names.ts";
import { readLabels, readSendAt, readSubject } from "./read_extras.ts";
import { MAX_REPLY_TO, type ReadingContext, withoutNulls } from "./read_send.ts";

export interface DraftRequest extends MessageContent {
  /** As given: whether it is a message of the inbox is for the store to say. */
  inReplyToMessageId: string | null;
  clientId: string | null;
}

/**
 * Body of POST /v1/mail/inboxes/{id}/drafts: everything may be missing; null counts as absent,
 * unknown fields are ignored unless one was meant for a known.
 * @throws RelayError `payload_too_large`, `invalid_json` or `invalid_email`, naming the field
 */
export function readDraft(request: JsonObject, { limits, nowMs }: ReadingContext): DraftRequest {
  const bodies = readBodies(request, limits);
  refuseNearNames(request, FIELDS);
  const given = withoutNulls(request);
  const { in_reply_to_message_id: repliedId = null } = given;
  if (repliedId !== null && typeof repliedId !== "string") {
    throw invalidJson("in_reply_to_message_id must be the id of a message");
  }
  const recipients = {
    to: readAddresses("to", given["to"]),
    cc: readAddresses("cc", given["cc"]),
    bcc: readAddresses("bcc", given["bcc"]),
  };
  return {
    ...uniqueRecipients(recipients, limits),
    ...bodies,
    subject: readSubject(given["subject"]),
    replyTo: readAddresses("reply_to", given["reply_to"], MAX_REPLY_TO),
    labels: readLabels(given["labels"]),
    sendAtMs: readSendAt(given["send_at"], nowMs),
    inReplyToMessageId: repliedId,
    clientId: readClientId(given["client_id"]),
    attachments: readAttachments(given["attachments"], limits),
  };
}

/** An attachment that a draft has already. */
export interface KeptAttachment {
  id: string;
}

/** What PATCH changes; absent stays. */
export type DraftChanges = Partial<
  Omit<MessageContent, "attachments"> & { attachments: (KeptAttachment | NewAttachment)[] }
>;

const CHANGEABLE = [
  "to",
  "cc",
  "bcc",
  "subject",
  "text",
  "html",
  "attachments",
  "reply_to",
  "labels",
  "send_at",
];
/** What a new draft may say. */
const FIELDS = [...CHANGEABLE, "in_reply_to_message_id", "client_id"];
const CLEARABLE = ["subject", "text", "html", "cc", "bcc"];

/**
 * Body of PATCH /v1/mail/drafts/{id}: null clears subject, text and html and empties cc and bcc.
 * @throws RelayError `payload_too_large`, `invalid_json`, for unknown fields too, or `invalid_email`
 */
export function readDraftChanges(
  request: JsonObject,
  { limits, nowMs }: ReadingContext,
): DraftChanges {
  const bodies = readBodies(request, limits);
  for (const [name, value] of Object.entries(request)) {
    if (!CHANGEABLE.includes(name)) {
      throw invalidJson(`"${name}" is not a field to change; those are ${CHANGEABLE.join(", ")}`);
    }
    if (value === null && !CLEARABLE.includes(name)) {
      throw invalidJson(`${name} must not be null; null clears ${CLEARABLE.join(", ")} only`);
    }
  }
  const changes: DraftChanges = {};
  const { to, cc, bcc, subject, text, html, attachments, reply_to, labels, send_at } = request;
  if (to !== undefined) changes.to = readAddresses("to", to);
  if (cc !== undefined) changes.cc = readAddresses("cc", cc ?? undefined);
  if (bcc !== undefined) changes.bcc = readAddresses("bcc", bcc ?? undefined);
  if (subject !== undefined) changes.subject = readSubject(subject);
  if (text !== undefined) changes.text = bodies.text;
  if (html !== undefined) changes.html = bodies.html;
  if (reply_to !== undefined) changes.replyTo = readAddresses("reply_to", reply_to, MAX_REPLY_TO);
  if (labels !== undefined) changes.labels = readLabels(labels);
  if (send_at !== undefined) changes.sendAtMs = readSendAt(send_at, nowMs);
  if (attachments !== undefined) changes.attachments = readChangedAttachments(attachments, limits);
  return changes;
}

/** A draft's attachments, as its record has them. */
export interface DraftAttachment extends KeptAttachment {
  sizeBytes: number;
}

/**
 * A draft with its changes.
 * @throws RelayError as readDraftChanges() for what only the whole shows: recipients, sizes, ids of
 * attachments that it does not have
 */
export function changeDraft<A extends DraftAttachment>(
  draft: Omit<MessageContent, "attachments"> & { attachments: readonly A[] },
  changes: DraftChanges,
  limits: MessageLimits,
): Omit<MessageContent, "attachments"> & { attachments: (A | NewAttachment)[] } {
  const { attachments: changed, ...words } = changes;
  const whole = { ...draft, ...words };
  const { text, html } = whole;
  refuseLargeBodies([text ?? "", html ?? ""], limits);
  const attachments =
    changed?.map((attachment, index) =>
      "content" in attachment ? attachment : keptOf(draft.attachments, attachment, index)
    ) ?? [...draft.attachments];
  refuseLargeMessage(
    { text, html },
    attachments.map((one) => "content" in one ? one.content.length : one.sizeBytes),
    limits,
  );
  return { ...whole, ...uniqueRecipients(whole, limits), attachments };
}

function readChangedAttachments(
  given: JsonValue,
  { mailAttachments: most }: MessageLimits,
): (KeptAttachment | NewAttachment)[] {
  if (!Array.isArray(given)) {
    throw invalidJson(
      "attachments must be an array: {id} keeps one, {filename, content_type, content} adds one",
    );
  }
  if (given.length > most) throw invalidJson(`attachments must hold at most ${most}`);
  const kept = new Set<string>();
  return given.map((item, index) => {
    const field = `attachments[${index}]`;
    const { id, content } = readItem(field, item);
    if (id === undefined) return readAttachment(field, item);
    if (typeof id !== "string" || content !== undefined) {
      throw invalidJson(
        `${field} must have either id, to keep an attachment, or content to add one`,
      );
    }
    if (kept.has(id)) throw invalidJson(`${field}.id is named twice`);
    kept.add(id);
    return { id };
  });
}

function keptOf<A extends DraftAttachment>(
  attachments: readonly A[],
  { id }: KeptAttachment,
  index: number,
): A {
  const kept = attachments.find((attachment) => attachment.id === id);
  if (kept !== undefined) return kept;
  throw invalidJson(
    `attachments[${index}].id is none of this draft's attachments; GET the draft shows them`,
  );
}
