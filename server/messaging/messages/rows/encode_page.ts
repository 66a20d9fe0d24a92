import { Buffer } from "node:buffer";

const OPENING = Buffer.from('{"messages":[');
const COMMA = 0x2c;

/**
 * A page of a mailbox, as GET /v1/inbox and GET /v1/outbox answer it: UTF-8 JSON.
 * @param messages each with its JSON
 */
export function encodePage(
  { messages, lastId }: { messages: readonly { json: Uint8Array }[]; lastId: number },
): string | Uint8Array<ArrayBuffer> {
  if (messages.length === 0) return `{"messages":[],"last_id":${lastId}}`;
  const closing = Buffer.from(`],"last_id":${lastId}}`);
  let sizeBytes = OPENING.length + messages.length - 1 + closing.length;
  for (const { json } of messages) sizeBytes += json.length;
  const page = new Uint8Array(sizeBytes);
  page.set(OPENING);
  let at = OPENING.length;
  for (const [i, { json }] of messages.entries()) {
    if (i > 0) page[at++] = COMMA;
    page.set(json, at);
    at += json.length;
  }
  page.set(closing, at);
  return page;
}
