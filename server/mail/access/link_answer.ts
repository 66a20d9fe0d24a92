/** What requests by the links of mails have in common, whatever the links do. */
import { z } from "@hono/zod-openapi";
import { RelayError } from "../../base/errors.ts";
import { answerError, NO_STORE } from "../../base/http/answers/answer.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";

export const tokenQuery = (description: string) =>
  z.object({ token: z.string().optional().openapi({ description }) });

/** `token` of a query; undefined where it names none, or is no query: no link has such a token. */
export function tokenOf(query: string): string | undefined {
  try {
    return readQuery(query, { token: text() }).token;
  } catch (error) {
    if (error instanceof RelayError) return undefined;
    throw error;
  }
}

/**
 * The answer of a link, or that it does nothing, which nobody keeps either.
 * @param asPage whether a person is to read it
 * @param refusals pages of the codes that are refusals of links
 * @param headers of refusals that are no pages
 */
export async function answerLink(
  asPage: boolean,
  refusals: Readonly<Record<string, () => Promise<Response>>>,
  answer: () => Promise<Response>,
  headers: Readonly<Record<string, string>> = NO_STORE,
): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RelayError) || !Object.hasOwn(refusals, error.code)) throw error;
    if (asPage) return await refusals[error.code]!();
    const refusal = answerError(error);
    for (const [name, value] of Object.entries(headers)) refusal.headers.set(name, value);
    return refusal;
  }
}
