/** Routes that agents call: by signature, by owner_token, or by the token of the tool server. */
import type { Context } from "hono";
import type { AgentCore } from "./agent_core.ts";
import {
  type Declaration,
  declareRoute,
  type MountServices,
  type RouteFacts,
  type SayWords,
} from "../../base/description/declaration.ts";
import type { RelayError } from "../../base/errors.ts";
import { whenReady } from "../../base/http/callers/when_ready.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import {
  type IdentifyCaller,
  withCaller,
  withCallerAndBody,
} from "../../base/http/callers/with_caller.ts";
import type { Caller, SignatureCredential } from "./authenticator.ts";

/** What such routes are mounted with, in addition to their own services. */
export type AgentServices = MountServices & Pick<AgentCore, "authenticator" | "presence">;

type Answer = Response | Promise<Response>;
type Kind = Caller["credential"]["kind"];

/** The ways in by the kinds of credentials. */
const WAY = { signature: "signature", owner: "ownerToken", mcp: "toolToken" } as const;
type Way = (typeof WAY)[Kind];

interface AgentFacts extends Omit<RouteFacts, "bodyLimit"> {
  words: SayWords;
}

export interface AgentRoute<Services> extends AgentFacts {
  handle: (services: Services) => (c: Context<HttpEnv>, caller: Caller) => Answer;
}

/** A route without a body, for an agent by whatever credential. */
export function agentRoute<Services>(
  { handle, ...facts }: AgentRoute<Services>,
): Declaration<Services & AgentServices> {
  return declareRoute<Services & AgentServices>(
    { ...facts, access: Object.values(WAY), pool: "messages" },
    (services) => withCaller(services.authenticator.authenticate, handle(services)),
  );
}

export interface AgentBodyRoute<Services> extends AgentFacts {
  may: readonly Way[];
  /**
   * The refusal of a credential that `may` lacks; its agent does not count as seen. Absent where
   * other checks come before it, and the handler makes it.
   */
  refuse?: (kind: Kind) => RelayError;
  handle: (
    services: Services,
  ) => (c: Context<HttpEnv>, caller: Caller, body: Uint8Array) => Answer;
}

/** A route with a body, which a signature covers: it is read before the caller is known. */
export function agentBodyRoute<Services>(
  { may, refuse, handle, ...facts }: AgentBodyRoute<Services>,
): Declaration<Services & AgentServices> {
  return declareRoute<Services & AgentServices>(
    { ...facts, access: may, bodyLimit: "rawBodyBytes", pool: "messages" },
    (services) => {
      const { authenticator, presence } = services;
      const identify: IdentifyCaller<Caller> = refuse === undefined
        ? authenticator.authenticate
        : (c, body) =>
          whenReady(authenticator.identify(c, body), (caller) => {
            const { kind } = caller.credential;
            if (!may.includes(WAY[kind])) throw refuse(kind);
            presence.touch(caller.agent.id);
            return caller;
          });
      return withCallerAndBody(identify, handle(services));
    },
  );
}

export interface SignedRoute<Services> extends AgentFacts {
  /** The refusal of a token. */
  refuse: () => RelayError;
  /** It says when the caller counts as seen: a signature may have been used before, and prove nothing. */
  handle: (services: Services) => (
    c: Context<HttpEnv>,
    caller: Caller & { credential: SignatureCredential },
    body: Uint8Array,
  ) => Answer;
}

/** A route that takes signed requests only. */
export function signedRoute<Services>(
  { refuse, handle, ...facts }: SignedRoute<Services>,
): Declaration<Services & AgentServices> {
  return declareRoute<Services & AgentServices>(
    { ...facts, access: ["signature"], bodyLimit: "rawBodyBytes", pool: "messages" },
    (services) =>
      withCallerAndBody(
        (c, body) =>
          whenReady(services.authenticator.identify(c, body), ({ agent, credential }) => {
            if (credential.kind !== "signature") throw refuse();
            return { agent, credential };
          }),
        handle(services),
      ),
  );
}
