/** The query of a list of messages (docs/mail.md, "Messages"). */
import { invalidJson } from "../../../base/errors.ts";
import { choice, flag, integer, readQuery, text } from "../../../base/http/fields/query.ts";
import { LABEL } from "./message_changes.ts";
import type { MessageFilters } from "./message_pages.ts";
import { isMailId } from "../../records/mail_id.ts";

/** Longest wait of a poll, in seconds. */
const MAX_WAIT_SECONDS = 25;

const QUERY = {
  direction: choice(["inbound", "outbound"], undefined),
  unread: flag(),
  has_code: flag(),
  label: text(),
  thread_id: text(),
  order: choice(["asc", "desc"], "desc"),
  wait: integer(0, MAX_WAIT_SECONDS, 0),
};

export interface MessageListQuery {
  filters: MessageFilters;
  order: "asc" | "desc";
  waitMs: number;
}

/** @throws RelayError `invalid_json` naming the parameter */
export function readMessageQuery(rawQuery: string): MessageListQuery {
  const query = readQuery(rawQuery, QUERY);
  const { direction, label, thread_id: threadId, order, wait } = query;
  if (label !== undefined && !LABEL.test(label)) {
    throw invalidJson("query parameter label must be 1 to 32 of a-z, 0-9, _ and -");
  }
  if (threadId !== undefined && !isMailId("thr", threadId)) {
    throw invalidJson(
      "query parameter thread_id must be the id of a thread, thr_ and 26 characters",
    );
  }
  // Only who reads upwards can wait for what comes.
  if (wait > 0 && order !== "asc") {
    throw invalidJson("query parameter wait needs order=asc: add it, or leave wait out");
  }
  return {
    filters: {
      unread: query.unread,
      hasCode: query.has_code,
      ...(direction === undefined ? {} : { direction }),
      ...(label === undefined ? {} : { label }),
      ...(threadId === undefined ? {} : { threadId }),
    },
    order,
    waitMs: wait * 1000,
  };
}

/** What a cursor of the list is bound to. */
export function boundOf({ filters, order }: MessageListQuery): Record<string, string | null> {
  return {
    order,
    direction: filters.direction ?? null,
    unread: String(filters.unread),
    has_code: String(filters.hasCode),
    label: filters.label ?? null,
    thread_id: filters.threadId ?? null,
  };
}
