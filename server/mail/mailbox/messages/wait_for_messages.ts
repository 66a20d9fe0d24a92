/** A poll that waits for messages (docs/mail.md, "Waiting for mail"). */
import type { RecordKey } from "../../../base/storage/commits/record_key.ts";
import type { MailboxWaits } from "../../../base/waiting/mailbox_waits.ts";
import type { MailboxRecord } from "../../records/mailbox_record.ts";
import type { MessagePage } from "./message_pages.ts";

export interface MessageWait {
  mailbox: RecordKey<MailboxRecord>;
  waitMs: number;
  /** Aborts when the client has left. */
  signal: AbortSignal;
  /** Id behind which the page begins; null for the beginning. */
  after: string | null;
  read(after: string | null): Promise<MessagePage>;
  /** The key may have died meanwhile. @throws RelayError as for a new request */
  confirm(): Promise<void>;
}

/**
 * Reads again at each change, until something is found or the time is over. Where there are more rows
 * than a page looks at, its cursor is the answer.
 */
export async function waitForMessages(
  waits: MailboxWaits<MailboxRecord, string>,
  { mailbox, waitMs, signal, after, read, confirm }: MessageWait,
): Promise<MessagePage> {
  const waiter = waits.open(mailbox, { waitMs, signal });
  if (waiter === null) return await read(after);
  try {
    let position = after;
    for (;;) {
      const found = await read(position);
      if (found.json.length > 0 || found.more) return found;
      position = found.position ?? position;
      waiter.hasRead(position);
      const outcome = await waiter.next();
      await confirm();
      if (outcome !== "changed") return { ...found, position };
    }
  } finally {
    waiter.end();
  }
}
