/** What every part of the messaging area is given: the core of the relay, and who its agents are. */
import type { Core } from "../../base/parts/core.ts";
import { type Authenticator, createAuthenticator } from "./authenticator.ts";
import { Identities } from "./identities.ts";
import { Presence } from "./presence.ts";
import type { SignatureVerifier } from "./verification/signature_verifier.ts";

export interface AgentCore extends Core {
  identities: Identities;
  presence: Presence;
  authenticator: Authenticator;
}

/** The core of the messaging area. What it holds by itself ends with the part `agents`. */
export function createAgentCore(core: Core, verifier: SignatureVerifier): AgentCore {
  const { store, records, limits: { signatureWindowSeconds } } = core;
  const identities = new Identities(store);
  const presence = new Presence(store);
  const authenticator = createAuthenticator({
    identities,
    records,
    presence,
    clock: store.clock,
    signatureWindowSeconds,
    verifier,
  });
  return { ...core, identities, presence, authenticator };
}
