/** Requests to send, read from their bytes to plain data: what the mail worker does with them. Pure. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { type ErrorCode, RelayError } from "../../../base/errors.ts";
import { readObject } from "../../../base/http/fields/json_body.ts";
import { fingerprintOf } from "../../../base/idempotency/idempotency_key.ts";
import { type DraftChanges, type DraftRequest, readDraft, readDraftChanges } from "./read_draft.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { type ForwardRequest, readForward } from "./read_forward.ts";
import { readReply, type ReplyRequest } from "./read_reply.ts";
import { type ReadingContext, readSend, type SendRequest } from "./read_send.ts";

/** What each kind of request asks for. */
export interface SendBodies {
  send: SendRequest;
  reply: ReplyRequest;
  forward: ForwardRequest;
  draft: DraftRequest;
  draft_changes: DraftChanges;
}

export type SendBodyKind = keyof SendBodies;

export interface ReadRequest<K extends SendBodyKind> {
  request: SendBodies[K];
  /** The body's fingerprint, where it was asked for. */
  fingerprint: string | null;
}

/** Plain data, so that a worker can hand it over. */
export type ReadOutcome<K extends SendBodyKind> =
  | ReadRequest<K>
  | { refused: { code: ErrorCode; message: string } };

const READERS: {
  readonly [K in SendBodyKind]: (
    request: JsonObject,
    context: ReadingContext,
  ) => SendBodies[K];
} = {
  send: readSend,
  reply: (request, { limits }) => readReply(request, limits),
  forward: (request, { limits }) => readForward(request, limits),
  draft: readDraft,
  draft_changes: readDraftChanges,
};

/**
 * Reads the body of a request. Never throws for what it says. Yields null where others may run.
 * @param wantsFingerprint whether the request has an Idempotency-Key: a fingerprint costs as much as
 * the rest
 */
export function* readSendBody<K extends SendBodyKind>(
  kind: K,
  body: Uint8Array,
  context: ReadingContext,
  wantsFingerprint: boolean,
): Sliced<ReadOutcome<K>> {
  try {
    const given = readObject(body);
    yield null;
    const request = READERS[kind](given, context);
    if (wantsFingerprint) yield null;
    return { request, fingerprint: wantsFingerprint ? fingerprintOf(given) : null };
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}

/** Buffers of an outcome: they move from a worker in place of being copied. */
export function buffersOfBody(outcome: ReadOutcome<SendBodyKind>): ArrayBuffer[] {
  if ("refused" in outcome || !("attachments" in outcome.request)) return [];
  return (outcome.request.attachments ?? []).flatMap((attachment) =>
    "content" in attachment ? [attachment.content.buffer] : []
  );
}
