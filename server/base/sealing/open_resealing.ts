/** The rotation of the custody key as a part of the relay: once after its start, in the background. */
import type { Core } from "../parts/core.ts";
import { describeFailure } from "../describe_failure.ts";
import type { Part } from "../parts/part.ts";
import type { KeyRing } from "./key_ring.ts";
import { resealRows, type SealedRows } from "./reseal.ts";

/**
 * What fails is logged and tried again at the next start.
 * @param rows all kinds of sealed rows that the store has
 */
export function openResealing(
  { deps: { log }, store, commits }: Pick<Core, "deps" | "store" | "commits">,
  ring: KeyRing,
  rows: readonly SealedRows[],
): Part {
  const stopping = new AbortController();
  const stopped = stopping.signal;
  let running: Promise<void> | undefined;
  return {
    start() {
      running = resealRows({ store, commits, ring, rows, stopped })
        .then((count) => {
          if (count !== null && !stopped.aborted) log("custody_keys_resealed", { count });
        }, (error) => log("custody_resealing_failed", describeFailure(error)));
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}
