/** Keeps a caller from giving its token away: a model may be talked into quoting it. */
import { isTokenForm } from "../../agents/tokens.ts";
import { invalidJson } from "../../errors.ts";
import type { ToolArguments } from "../tool_arguments.ts";
import type { RelayCall } from "./relay_call.ts";

/**
 * An escape of JSON, of JSON inside JSON too; no other one can stand for a character of a token. It
 * begins where a run of backslashes begins, so that a long run is read once.
 */
const ESCAPE = /(?<!\\)\\+u([0-9a-fA-F]{4})/g;

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
  const plain = text.replaceAll(
    ESCAPE,
    (_, digits: string) => String.fromCharCode(parseInt(digits, 16)),
  );
  for (const token of [given.raw("token"), bearerToken]) {
    if (typeof token !== "string" || !isTokenForm(token)) continue;
    if (text.includes(token) || plain.includes(token)) {
      throw invalidJson(`the ${what} contains your token; whoever reads it could act as you`);
    }
  }
}
