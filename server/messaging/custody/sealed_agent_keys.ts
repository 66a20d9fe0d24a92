/** Where the private keys of agents stand in the store. */
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import type { Identities } from "../agents/identities.ts";
import type { SealedRows } from "../../base/sealing/reseal.ts";
import type { SealedRow } from "../../base/sealing/sealed_rows.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";

/** ["custody", agentId]: the agent's Ed25519 seed, bound to its public key. */
export const custodyKey = defineRecord<SealedRow, [agentId: number]>(["custody"], 1, {
  holds: "the agent's Ed25519 seed, AES-256-GCM under a custody key, bound to its public key",
  expires: "gone after export",
});

/** The rows of agents' keys, for resealing them. */
export function sealedAgentKeys(identities: Identities): SealedRows {
  return {
    prefix: custodyKey.under(),
    boundTo: async (key) => decodeAddress((await identities.byId(key[1] as number)).address),
  };
}
