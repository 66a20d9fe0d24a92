/** What requests ask an inbox to be (docs/mail.md, "Inboxes"). Pure. */
import type { JsonObject, JsonValue } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";
import { cleanLine } from "../../../base/http/fields/text_fields.ts";
import { cleanAddressList } from "./address_list.ts";
import {
  ADDRESS_LISTS,
  type AddressListName,
  type SendPolicy,
} from "../../records/inbox_record.ts";
import { readClientId } from "../../records/client_id.ts";
import { cleanLocalPart } from "./local_part.ts";

const MAX_DISPLAY_NAME = 100;
const MAX_RETENTION_DAYS = 3650;

/** What PATCH changes; absent stays. */
export interface InboxChanges {
  displayName?: string | null;
  sendPolicy?: SendPolicy;
  retentionDays?: number | null;
  lists: Partial<Record<AddressListName, readonly string[]>>;
}

export interface InboxRequest extends InboxChanges {
  /** Null for a made-up one. */
  localPart: string | null;
  clientId: string | null;
}

/** Body of POST /v1/mail/inboxes; null counts as absent, unknown fields are ignored. @throws RelayError `invalid_json` */
export function readInboxRequest(request: JsonObject): InboxRequest {
  const given = Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== null),
  ) as JsonObject;
  return {
    ...readFields(given),
    localPart: given["local_part"] === undefined ? null : cleanLocalPart(given["local_part"]),
    clientId: readClientId(given["client_id"]),
  };
}

const CHANGEABLE = ["display_name", "send_policy", "retention_days", ...ADDRESS_LISTS];

/**
 * Body of PATCH /v1/mail/inboxes/{id}: null clears display_name, and retention_days keeps messages.
 * @throws RelayError `invalid_json`, for unknown fields too
 */
export function readInboxChanges(request: JsonObject): InboxChanges {
  const unknown = Object.keys(request).find((name) => !CHANGEABLE.includes(name));
  if (unknown !== undefined) {
    throw invalidJson(`"${unknown}" is not a field to change; those are ${CHANGEABLE.join(", ")}`);
  }
  return readFields(request);
}

function readFields(request: JsonObject): InboxChanges {
  const changes: InboxChanges = { lists: {} };
  const { display_name, send_policy, retention_days } = request;
  if (display_name !== undefined) {
    changes.displayName = display_name === null
      ? null
      : cleanLine("display_name", display_name, MAX_DISPLAY_NAME) || null;
  }
  if (send_policy !== undefined) {
    if (send_policy !== "direct" && send_policy !== "draft_only") {
      throw invalidJson('send_policy must be "direct" or "draft_only"');
    }
    changes.sendPolicy = send_policy;
  }
  if (retention_days !== undefined) changes.retentionDays = readRetention(retention_days);
  for (const name of ADDRESS_LISTS) {
    if (request[name] !== undefined) changes.lists[name] = cleanAddressList(name, request[name]);
  }
  return changes;
}

function readRetention(given: JsonValue): number | null {
  const isDays = typeof given === "number" && Number.isInteger(given) && given >= 1 &&
    given <= MAX_RETENTION_DAYS;
  if (given === null || isDays) return given;
  throw invalidJson(
    `retention_days must be an integer from 1 to ${MAX_RETENTION_DAYS}, or null to keep messages`,
  );
}
