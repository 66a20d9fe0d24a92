/** The rotation of the custody key as the running relay does it, once after its start. */
import { decodeAddress } from "../../toolkit/decode_address.ts";
import type { Identities } from "../agents/identities.ts";
import type { Log } from "../deps.ts";
import { describeFailure } from "../http/describe_failure.ts";
import { type Resealing, resealRows, type SealedRows } from "./reseal.ts";

/** Begins in the background. What fails is logged and tried again at the next start. */
export function startResealing(
  { identities, log, ...options }: Omit<Resealing, "rows" | "stopped"> & {
    identities: Identities;
    log: Log;
  },
): { stop(): Promise<void> } {
  const agentKeys: SealedRows = {
    prefix: "custody",
    boundTo: async (key) => decodeAddress((await identities.byId(key[1] as number)).address),
  };
  const stopping = new AbortController();
  const running = resealRows({ ...options, rows: [agentKeys], stopped: stopping.signal })
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
