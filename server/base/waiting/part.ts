/** Waiting as a part of the relay: one bound on who waits, whatever the mailbox, and one end at shutdown. */
import type { Deps } from "../parts/deps.ts";
import type { Part } from "../parts/part.ts";
import type { Storage } from "../storage/part.ts";
import { Waits } from "./waits.ts";

export interface Waiting extends Part {
  waits: Waits;
}

export function openWaiting(
  { config }: Pick<Deps, "config">,
  { store, records, commits }: Pick<Storage, "store" | "records" | "commits">,
): Waiting {
  const waits = new Waits({
    store,
    records,
    commits,
    bound: config.limits.waitingPolls,
    watchable: config.hosted,
  });
  return { waits, endWaits: () => waits.close(), close: () => waits.close() };
}
