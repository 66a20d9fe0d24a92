/** What links and the forms of their pages say. Pure. */
import { RelayError } from "../../base/errors.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";

export function isForm(request: Request): boolean {
  const type = request.headers.get("content-type") ?? "";
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type);
}

export function readForm(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return Object.fromEntries(new URLSearchParams(new TextDecoder().decode(bytes)));
}

/** `token` of a query; undefined where it names none, or is no query: no link has such a token. */
export function tokenOf(query: string): string | undefined {
  try {
    return readQuery(query, { token: text() }).token;
  } catch (error) {
    if (error instanceof RelayError) return undefined;
    throw error;
  }
}
