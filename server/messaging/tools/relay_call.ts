/** What the relay's tools get of a request in addition to its arguments, and the caller. */
import * as z from "zod";
import type { AgentCore } from "../agents/agent_core.ts";
import type { Custody } from "../custody/custody.ts";
import type { AgentSearch } from "../directory/agent_search.ts";
import { RelayError } from "../../base/errors.ts";
import type { Authenticator, Caller } from "../agents/authenticator.ts";
import type { Inbox } from "../messages/inbox/inbox.ts";
import type { PageReservation } from "../messages/inbox/page_budget.ts";
import type { TokenSender } from "../messages/send/token_sender.ts";
import type { ToolArguments } from "../../base/tool_server/tool_arguments.ts";

/** What the tools call of the relay. */
export interface ToolServices extends AgentCore {
  custody: Custody;
  inbox: Inbox;
  tokenSender: TokenSender;
  agentSearch: AgentSearch;
}

export interface RelayCall {
  /** The token of Authorization: Bearer, or null. */
  bearerToken: string | null;
  /** Keyed hash of the client's address, for limits an address. */
  addressHash(): string;
  /** Aborts when the client has left. */
  gone(): AbortSignal;
  requestId: string;
  /** Counts what a tool has in hand until the answer of the request is taken. */
  keep(reservation: PageReservation): void;
}

/**
 * The argument `token`: clients may send it as a header instead, so that no schema requires it; a
 * model would have to invent one.
 */
export const tokenArgument = z.string().describe("from register").optional();

/** The same in words, for refusals. */
const TOKEN =
  "the token that register returned (clients may send it as the header Authorization: Bearer instead)";

/** The caller of a tool. @throws RelayError `unknown_token`, `invalid_json` */
export async function requireCaller(
  authenticator: Authenticator,
  given: ToolArguments,
  call: RelayCall,
): Promise<Caller> {
  const token = given.optionalString("token", TOKEN) || call.bearerToken;
  if (token === null) {
    throw new RelayError(
      "unknown_token",
      `token is required: ${TOKEN}; without one, call register first`,
    );
  }
  return await authenticator.identifyToken(token);
}
