/**
 * Which recipients are being sent to right now: what is not stored, and what every answer that shows
 * messages asks for (docs/mail.md, "What became of it").
 */
import type { OutgoingQueue } from "../../../base/outgoing/outgoing_queue.ts";
import type { MessageRow } from "../../records/message_record.ts";
import { mailRowId } from "./queued_mail.ts";
import { isFinal } from "./recipient_status.ts";

/** What the status of messages depends on in addition to their rows. */
export interface InFlight {
  nowMs: number;
  /** Ids of the outgoing queue's rows that a process holds. */
  held: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** For messages that nothing is sent of yet. */
export const nothingInFlight = (nowMs: number): InFlight => ({ nowMs, held: NONE });

/** Whether a recipient of a message is being sent to. */
export function isSending({ held }: InFlight, messageId: string, recipient: number): boolean {
  return held.size > 0 && held.has(mailRowId(messageId, recipient));
}

export interface SendsInFlightServices {
  outgoing: Pick<OutgoingQueue, "held">;
  /** Rows of messages in the order of their ids; those that have gone are left out. */
  readAll(orgId: string, inboxId: string, messageIds: readonly string[]): Promise<MessageRow[]>;
  now: () => number;
}

export class SendsInFlight {
  constructor(private readonly services: SendsInFlightServices) {}

  /**
   * Rows of one inbox as they are shown now. Which are held is asked once, and only where something is
   * still to be sent. Those rows are read again after that: else one that has just been sent, and so is
   * no more held, would be shown as if nothing had begun.
   */
  async of(rows: readonly MessageRow[]): Promise<{ rows: readonly MessageRow[]; now: InFlight }> {
    const { outgoing, readAll, now } = this.services;
    const open = rows.filter(isOpen);
    if (open.length === 0) return { rows, now: nothingInFlight(now()) };
    const held = await outgoing.held();
    const { orgId, inboxId } = open[0]!;
    const read = await readAll(orgId, inboxId, open.map(({ id }) => id));
    const again = new Map(read.map((row) => [row.id, row]));
    return { rows: rows.map((row) => again.get(row.id) ?? row), now: { nowMs: now(), held } };
  }

  /** For rows that are read after it. */
  async snapshot(): Promise<InFlight> {
    const { outgoing, now } = this.services;
    return { nowMs: now(), held: await outgoing.held() };
  }

  /** As of(), of one message. */
  async ofOne(row: MessageRow): Promise<{ row: MessageRow; now: InFlight }> {
    const { rows, now } = await this.of([row]);
    return { row: rows[0]!, now };
  }
}

function isOpen({ direction, cancelledAtMs, recipients }: MessageRow): boolean {
  return direction === "outbound" && cancelledAtMs === null &&
    recipients.some((recipient) => !isFinal(recipient));
}
