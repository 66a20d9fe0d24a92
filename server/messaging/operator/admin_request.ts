/** What requests of the operator say: which agent they are about, and why. */
import { AddressError } from "../../../toolkit/address_error.ts";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Identities } from "../agents/identities.ts";
import { cleanHandle } from "../agents/profile_rules.ts";
import type { Identity } from "../agents/agent_records.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { cleanLine } from "../../base/http/fields/text_fields.ts";

/** Code points of the operator's words about a ban. */
export const MAX_REASON = 200;
const PUBKEY_FORM =
  "pubkey must be the base58 (33 to 44 characters) of a 32-byte Ed25519 public key";

/**
 * The agent that `pubkey` names.
 * @throws RelayError `invalid_json`, `invalid_pubkey`, `not_found`
 */
export async function findByKey(identities: Identities, { pubkey }: JsonObject): Promise<Identity> {
  if (pubkey === undefined) throw invalidJson(`pubkey is required: ${PUBKEY_FORM}`);
  if (typeof pubkey !== "string") throw invalidJson(PUBKEY_FORM);
  if (!isAddress(pubkey)) throw new RelayError("invalid_pubkey", PUBKEY_FORM);
  const agent = await identities.byAddress(pubkey);
  if (agent === null) throw unknown("pubkey");
  return agent;
}

/**
 * The agent that either `pubkey` or `handle` names; null counts as absent.
 * @throws RelayError `invalid_json`, `invalid_pubkey`, `invalid_handle`, `not_found`
 */
export async function findNamed(identities: Identities, request: JsonObject): Promise<Identity> {
  const pubkey = request["pubkey"] ?? undefined;
  const handle = request["handle"] ?? undefined;
  if (handle === undefined) {
    if (pubkey !== undefined) return await findByKey(identities, request);
    throw invalidJson(`pubkey or handle is required: ${PUBKEY_FORM}`);
  }
  if (pubkey !== undefined) {
    throw invalidJson("pubkey and handle are both given; name the agent by one of them");
  }
  if (typeof handle !== "string") throw invalidJson("handle must be a string");
  const agent = await identities.resolve(`@${cleanHandle(handle)}`);
  if (agent === null) throw unknown("handle");
  return agent;
}

/** The operator's words about a ban, trimmed; null for none. @throws RelayError `invalid_json` */
export function readReason({ reason }: JsonObject): string | null {
  if (reason === undefined || reason === null) return null;
  return cleanLine("reason", reason, MAX_REASON) || null;
}

/** Whether text is base58 of 32 bytes. */
export function isAddress(text: string): boolean {
  try {
    decodeAddress(text);
    return true;
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}

function unknown(by: "pubkey" | "handle"): RelayError {
  return new RelayError("not_found", `no agent is registered with this ${by}`);
}
