/** What the mail tools get of a request in addition to its arguments, and the caller. */
import type { Context } from "hono";
import * as z from "zod";
import { invalidJson, RelayError } from "../../base/errors.ts";
import type { AnswerBudget } from "../../base/http/answers/answer_budget.ts";
import { bearerToken } from "../../base/http/callers/credentials.ts";
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import { holdsSecret } from "../../base/tool_server/own_secret.ts";
import type { ToolArguments } from "../../base/tool_server/tool_arguments.ts";
import { type KeyAccess, refusalOf } from "../access/access.ts";
import type { KeyAuthenticator, MailCaller } from "../access/authenticate_key.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { isKeyForm } from "../records/key_record.ts";
import type { MailSearch } from "../search/mail_search.ts";
import type { Acceptance } from "../sending/acceptance.ts";
import type { Answering } from "../sending/answering.ts";

/** What the mail tools are made with. */
export interface MailToolServices extends MailCore {
  acceptance: Acceptance;
  answering: Answering;
  search: MailSearch;
}

export interface MailCall {
  /** The API key of Authorization: Bearer, or null. */
  bearerToken: string | null;
  /** Aborts when the client has left. */
  gone(): AbortSignal;
  requestId: string;
  /**
   * Takes room for a large answer, before anything is marked.
   * @param sizeBytes of its structured content
   * @throws RelayError `unavailable`
   */
  reserve(sizeBytes: number): void;
}

/** An answer says everything in structured content and again in prose. */
const TIMES_SAID = 2;

export function describeMailCall(c: Context<HttpEnv>, answers: AnswerBudget): MailCall {
  return {
    bearerToken: bearerToken(c.req.raw.headers),
    gone: () => c.req.raw.signal,
    requestId: c.get("requestId"),
    reserve(sizeBytes) {
      const wholeBytes = TIMES_SAID * sizeBytes;
      if (wholeBytes <= LARGE_ANSWER_BYTES) return;
      const earlier = c.get("reservation"); // of another request of the same batch
      c.set("reservation", answers.reserve(wholeBytes, "agent", () => earlier?.end()));
    },
  };
}

/** The argument `api_key`: clients may send it as a header instead, so that no schema requires it. */
export const apiKeyArgument = z.string().describe("rm_sk_...").optional();

export const idempotencyKeyArgument = z.string().max(255).describe("printable ASCII").optional();

/** The caller of a tool. */
export interface MailToolCaller extends MailCaller {
  /** For who has waited: the key may have died meanwhile. @throws RelayError as for a new call */
  confirm(): Promise<void>;
}

/**
 * The caller, who may call the tool.
 * @throws RelayError `missing_token`, `unknown_key`, `expired_key`, `trial_expired`, `org_suspended`,
 * `insufficient_permission`
 */
export async function requireMailCaller(
  authenticator: KeyAuthenticator,
  given: ToolArguments,
  { bearerToken }: Pick<MailCall, "bearerToken">,
  access: KeyAccess,
): Promise<MailToolCaller> {
  const apiKey = given.filledString("api_key", "an API key, rm_sk_...") ?? bearerToken;
  const identify = async () => {
    const caller = await authenticator.authenticateKey(apiKey);
    const refusal = refusalOf(access, caller.key, "tool");
    if (refusal !== null) throw new RelayError("insufficient_permission", refusal);
    return caller;
  };
  return { ...await identify(), confirm: async () => void await identify() };
}

/**
 * Refuses text that holds the caller's own API key.
 * @param what how the message calls the text
 * @throws RelayError `invalid_json`
 */
export function refuseOwnKey(
  what: string,
  text: unknown,
  given: ToolArguments,
  { bearerToken }: Pick<MailCall, "bearerToken">,
): void {
  if (typeof text !== "string") return;
  const keys = [given.raw("api_key"), bearerToken].filter((key): key is string =>
    typeof key === "string" && isKeyForm(key)
  );
  if (holdsSecret(text, keys)) {
    throw invalidJson(`the ${what} contains your API key; whoever reads it could act as you`);
  }
}
