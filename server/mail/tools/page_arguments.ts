/** Arguments and results that several mail tools have, in words for refusals. */
import * as z from "zod";

/** The description keeps the two types apart: bare ones are joined into an array, which some clients do not read. */
export const nextCursorSchema = z.string().describe("null at the end").nullable();

export const LIST_LIMIT = { default: 50, max: 100 };
export const CURSOR = "next_cursor of an earlier answer";
export const INBOX_ID = "the id of an inbox, or its address";
export const THREAD_ID = "the id of a thread, as check_inbox gives it";
export const MESSAGE_ID = "the id of a message, as check_inbox gives it";
export const IDEMPOTENCY_KEY = "a key of your choice, the same for a retry";
