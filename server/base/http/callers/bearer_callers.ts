/** Callers that an area of the API knows by bearer tokens; it stores their hashes. */
import type { RelayError } from "../../errors.ts";
import { bearerToken } from "./credentials.ts";
import { whenReady } from "./when_ready.ts";
import { TokenHashes } from "./token_hashes.ts";
import type { IdentifyCaller } from "./with_caller.ts";

/** What an area says of its tokens. */
export interface BearerArea<Stored, Caller> {
  /** Whether text has the form of a token of this area; other text is looked up nowhere. */
  isTokenForm(text: string): boolean;
  /** What is stored under the hash of a token (SHA-256, base64url), or null. */
  find(tokenHash: string): Stored | null | Promise<Stored | null>;
  /** The caller that the token stands for. @throws RelayError for a token that is no longer good */
  admit(stored: Stored): Caller | Promise<Caller>;
  /** The refusal of a request without the header, with another scheme, or with nothing after it. */
  missing(): RelayError;
  /** The refusal of everything else that is no stored token. */
  unknown(): RelayError;
}

export interface BearerCallers<Caller> {
  /** By the header Authorization: Bearer. @throws what the area refuses with */
  identify: IdentifyCaller<Caller>;
  /** By a token that came in another way. @throws what the area refuses with, but `missing` */
  identifyToken(token: string): Promise<Caller>;
}

export function bearerCallers<Stored, Caller>(
  area: BearerArea<Stored, Caller>,
): BearerCallers<Caller> {
  const hashes = new TokenHashes();

  function callerOf(token: string): Caller | Promise<Caller> {
    if (!area.isTokenForm(token)) throw area.unknown();
    return whenReady(area.find(hashes.of(token)), admit);
  }

  function admit(stored: Stored | null): Caller | Promise<Caller> {
    if (stored === null) throw area.unknown();
    return area.admit(stored);
  }

  function identify(c: Parameters<IdentifyCaller<Caller>>[0]): Caller | Promise<Caller> {
    const token = bearerToken(c.req.raw.headers);
    if (token === null) throw area.missing();
    return callerOf(token);
  }

  return { identify, identifyToken: async (token) => await callerOf(token) };
}
