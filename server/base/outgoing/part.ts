/** The outgoing queue as a part of the relay. */
import type { Core } from "../parts/core.ts";
import type { Part } from "../parts/part.ts";
import { startupNote } from "../config/startup_notes.ts";
import type { LeaseTiming } from "../storage/leases/lease.ts";
import { deadLetterNote } from "./dead_letters.ts";
import { OutgoingQueue } from "./outgoing_queue.ts";

export interface Outgoing extends Part {
  /** Handlers of a kind register with it before the parts are started. */
  outgoing: OutgoingQueue;
}

export interface OutgoingOptions {
  /** Lease of the rows that a process holds; a minute unless given. */
  outgoingTiming?: Partial<LeaseTiming>;
}

export async function openOutgoing(
  { deps, store, records, commits }: Core,
  { outgoingTiming: timing }: OutgoingOptions,
): Promise<Outgoing> {
  const outgoing = new OutgoingQueue({ store, records, commits, log: deps.log, timing });
  const note = await deadLetterNote(store);
  return {
    outgoing,
    notes: note === null ? [] : [startupNote("outgoing", note)],
    crons: { outgoing: () => outgoing.run() },
    start: () => outgoing.start(),
    endWaits: () => outgoing.stop(),
    close: () => outgoing.close(),
  };
}
