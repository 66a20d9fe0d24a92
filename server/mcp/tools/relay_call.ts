/** What the relay's tools are told of a request besides its arguments, and who calls. */
import { RelayError } from "../../errors.ts";
import type { AnswerHold } from "../../http/answers_in_hand.ts";
import type { Authenticator, Caller } from "../../http/authenticate.ts";
import type { ToolArguments } from "../tool_arguments.ts";

export interface RelayCall {
  /** The token of Authorization: Bearer, or null. */
  bearerToken: string | null;
  /** Keyed hash of the client's address, for limits an address. */
  addressHash(): string;
  /** Aborts when the client has left. */
  gone(): AbortSignal;
  requestId: string;
  /** Counts what a tool has in hand until the answer of the request is taken. */
  keep(hold: AnswerHold): void;
}

/** What tools' descriptions say of their argument `token`. */
export const TOKEN_ARGUMENT =
  "the bearer token that register returned; an empty string where the client itself sends it as Authorization: Bearer";

/** Who calls a tool. @throws RelayError `unknown_token`, `invalid_json` */
export async function requireCaller(
  authenticator: Authenticator,
  given: ToolArguments,
  call: RelayCall,
): Promise<Caller> {
  const token = given.optionalString("token", TOKEN_ARGUMENT) || call.bearerToken;
  if (token === null) {
    throw new RelayError("unknown_token", `token is required: ${TOKEN_ARGUMENT}`);
  }
  return await authenticator.identifyToken(token);
}
