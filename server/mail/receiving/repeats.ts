/** Repetitions of a message: the same bytes and envelope sender for one inbox within a day. */
import { Buffer } from "node:buffer";
import { sha256Of } from "../../http/sha256_of.ts";
import type { ReceivedMail } from "./received_mail.ts";

/** ["mail-repeat", orgId, inboxId, hash]: when such a message was stored. */
export const repeatRowKey = (orgId: string, inboxId: string, hash: string): Deno.KvKey => [
  "mail-repeat",
  orgId,
  inboxId,
  hash,
];

export interface RepeatRow {
  v: 1;
  atMs: number;
}

/**
 * Hash of a message by which its repetition is known: SHA-256, base64url.
 * @param content SHA-256 of its bytes
 */
export async function repeatKeyOf(
  { from }: Pick<ReceivedMail, "from">,
  content: Uint8Array,
): Promise<string> {
  const sender = new TextEncoder().encode(from);
  const hash = await sha256Of(Buffer.concat([content, sender]));
  return Buffer.from(hash).toString("base64url");
}
