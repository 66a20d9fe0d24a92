/** The rotation of the custody key as the running relay does it, once after its start. */
import type { Log } from "../deps.ts";
import { describeFailure } from "../http/describe_failure.ts";
import { type Resealing, resealRows } from "./reseal.ts";

/** Begins in the background. What fails is logged and tried again at the next start. */
export function startResealing(
  { log, ...options }: Omit<Resealing, "stopped"> & { log: Log },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = resealRows({ ...options, stopped: stopping.signal })
    .then((count) => {
      if (count !== null && !stopping.signal.aborted) log("custody_keys_resealed", { count });
    }, (error) => log("custody_resealing_failed", describeFailure(error)));
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
