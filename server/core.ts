/** What every part of the relay is given: what it runs on, and who its agents are. */
import { type Authenticator, createAuthenticator } from "./agents/authenticator.ts";
import { Identities } from "./agents/identities.ts";
import type { SignatureVerifier } from "./agents/verification/signature_verifier.ts";
import { Presence } from "./agents/presence.ts";
import { tokenKey } from "./agents/agent_records.ts";
import type { Deps } from "./deps.ts";
import type { Http } from "./http/part.ts";
import type { Limits } from "./limits.ts";
import type { Storage } from "./storage/part.ts";

type Stored = Pick<
  Storage,
  | "store"
  | "records"
  | "commits"
  | "ids"
  | "leases"
  | "publicReads"
  | "freeDisk"
  | "isFloorKnown"
  | "addressKey"
>;

export interface Core extends Stored, Pick<Http, "answers"> {
  deps: Deps;
  limits: Limits;
  identities: Identities;
  presence: Presence;
  authenticator: Authenticator;
}

/** The core over an open store. What it holds by itself ends with the part `agents`. */
export function createCore(
  deps: Deps,
  storage: Storage,
  { answers }: Http,
  verifier: SignatureVerifier,
): Core {
  const { store, records, commits, ids, leases, publicReads, freeDisk, isFloorKnown, addressKey } =
    storage;
  const { limits } = deps.config;
  const identities = new Identities(store);
  const presence = new Presence(store);
  const authenticator = createAuthenticator({
    byAddress: (address) => identities.byAddress(address),
    inMemory: (address) => identities.addressInMemory(address),
    byId: (agentId) => identities.byId(agentId),
    findToken(tokenHash) {
      const key = tokenKey(tokenHash);
      return records.inMemory(key) ?? records.read(key);
    },
    seen: (agentId) => presence.touch(agentId),
  }, { clock: store.clock, signatureWindowSeconds: limits.signatureWindowSeconds, verifier });
  return {
    deps,
    limits,
    store,
    records,
    commits,
    ids,
    leases,
    publicReads,
    freeDisk,
    isFloorKnown,
    addressKey,
    answers,
    identities,
    presence,
    authenticator,
  };
}
