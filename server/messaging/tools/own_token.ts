/** Keeps a caller from giving its token away: a model may be talked into quoting it. */
import { isTokenForm } from "../agents/tokens.ts";
import { invalidJson } from "../../base/errors.ts";
import { holdsSecret } from "../../base/tool_server/own_secret.ts";
import type { ToolArguments } from "../../base/tool_server/tool_arguments.ts";
import type { RelayCall } from "./relay_call.ts";

/**
 * Refuses text that holds a token which came with the call, as it is or in JSON's escapes.
 * @param what how the message calls the text
 * @throws RelayError `invalid_json`
 */
export function refuseOwnToken(
  what: string,
  text: string,
  given: ToolArguments,
  { bearerToken }: Pick<RelayCall, "bearerToken">,
): void {
  const tokens = [given.raw("token"), bearerToken].filter((token): token is string =>
    typeof token === "string" && isTokenForm(token)
  );
  if (holdsSecret(text, tokens)) {
    throw invalidJson(`the ${what} contains your token; whoever reads it could act as you`);
  }
}
