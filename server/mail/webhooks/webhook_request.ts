/** What requests ask a webhook to be (docs/mail.md, "Webhooks"). Pure. */
import type { JsonObject, JsonValue } from "../../../toolkit/json_value.ts";
import { invalidJson } from "../../base/errors.ts";
import { readClientId } from "../records/client_id.ts";
import { EVENT_TYPES, type EventType } from "../records/event_record.ts";
import { isMailId } from "../records/mail_id.ts";

export const MOST_INBOXES = 50;

/** What PATCH changes; absent stays. */
export interface WebhookChanges {
  url?: string;
  /** Null for all. */
  events?: readonly EventType[] | null;
  /** Ids or addresses of inboxes, each once; empty for all. */
  inboxes?: readonly string[];
  isEnabled?: true;
}

export interface WebhookRequest extends Required<Omit<WebhookChanges, "isEnabled">> {
  clientId: string | null;
}

/** Says whether a URL may be delivered to. @throws RelayError `invalid_json` */
export type RequireUrl = (url: string) => URL;

/** Body of POST /v1/mail/webhooks; null counts as absent, unknown fields are ignored. @throws RelayError `invalid_json` */
export function readWebhookRequest(request: JsonObject, requireUrl: RequireUrl): WebhookRequest {
  const { url, events, inbox_ids, client_id } = request;
  return {
    url: readUrl(url ?? null, requireUrl),
    events: (events ?? null) === null ? null : readEvents(events!),
    inboxes: (inbox_ids ?? null) === null ? [] : readInboxes(inbox_ids!),
    clientId: readClientId(client_id),
  };
}

const CHANGEABLE = ["url", "events", "inbox_ids", "status"];

/**
 * Body of PATCH /v1/mail/webhooks/{id}.
 * @throws RelayError `invalid_json`, for unknown fields too
 */
export function readWebhookChanges(request: JsonObject, requireUrl: RequireUrl): WebhookChanges {
  const unknown = Object.keys(request).find((name) => !CHANGEABLE.includes(name));
  if (unknown !== undefined) {
    throw invalidJson(`"${unknown}" is not a field to change; those are ${CHANGEABLE.join(", ")}`);
  }
  const { url, events, inbox_ids, status } = request;
  if (status !== undefined && status !== "active") {
    throw invalidJson(
      'status must be "active", which enables it again; delete a webhook that is not wanted any more (DELETE /v1/mail/webhooks/{id})',
    );
  }
  return {
    ...(url === undefined ? {} : { url: readUrl(url, requireUrl) }),
    ...(events === undefined ? {} : { events: readEvents(events) }),
    ...(inbox_ids === undefined ? {} : { inboxes: readInboxes(inbox_ids) }),
    ...(status === undefined ? {} : { isEnabled: true }),
  };
}

/** As requireUrl() writes it, so that what is shown is what is asked. */
function readUrl(given: JsonValue, requireUrl: RequireUrl): string {
  if (typeof given === "string") return requireUrl(given).href;
  throw invalidJson("url is required: a string such as https://example.com/hook");
}

function readEvents(given: JsonValue): readonly EventType[] {
  const form = `events must be an array of one or more of ${EVENT_TYPES.join(", ")}`;
  if (!Array.isArray(given) || given.length === 0) throw invalidJson(form);
  const unknown = given.find((one) => !EVENT_TYPES.includes(one as EventType));
  if (unknown !== undefined) throw invalidJson(form);
  return EVENT_TYPES.filter((type) => given.includes(type));
}

function readInboxes(given: JsonValue): readonly string[] {
  const form = `inbox_ids must be an array of at most ${MOST_INBOXES} ids or addresses of inboxes`;
  if (!Array.isArray(given) || given.length > MOST_INBOXES) throw invalidJson(form);
  const isName = (one: JsonValue): one is string =>
    typeof one === "string" && (isMailId("ibx", one) || one.includes("@"));
  if (!given.every(isName)) throw invalidJson(form);
  return [...new Set(given)];
}
