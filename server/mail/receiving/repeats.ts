/** Repetitions of a message: the same bytes and envelope sender for one inbox within a day. */
import { Buffer } from "node:buffer";
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

/** Hash of a message by which its repetition is known: SHA-256, base64url; made off the main thread. */
export async function repeatKeyOf(
  { raw, from }: Pick<ReceivedMail, "raw" | "from">,
): Promise<string> {
  const content = new Uint8Array(await crypto.subtle.digest("SHA-256", raw));
  const sender = new TextEncoder().encode(from);
  const both = new Uint8Array(content.length + sender.length);
  both.set(content);
  both.set(sender, content.length);
  const hash = await crypto.subtle.digest("SHA-256", both);
  return Buffer.from(hash).toString("base64url");
}
