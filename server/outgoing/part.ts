/** The outgoing queue as a part of the relay. */
import type { Core } from "../core.ts";
import type { Part } from "../part.ts";
import { startupNote } from "../startup_notes.ts";
import { deadNote } from "./dead_rows.ts";
import { OutgoingQueue } from "./outgoing_queue.ts";

export interface Outgoing extends Part {
  /** Who delivers a kind is registered with it before the parts are started. */
  outgoing: OutgoingQueue;
}

export async function openOutgoing({ deps, store, records, commits }: Core): Promise<Outgoing> {
  const outgoing = new OutgoingQueue({ store, records, commits, log: deps.log });
  const note = await deadNote(store);
  return {
    outgoing,
    notes: note === null ? [] : [startupNote("outgoing", note)],
    crons: { outgoing: () => outgoing.run() },
    start: () => outgoing.start(),
    endWaits: () => outgoing.stop(),
    close: () => outgoing.close(),
  };
}
