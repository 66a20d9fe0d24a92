/** Google's ID tokens: what of them this relay takes, and what they say (OpenID Connect Core, section 2). */
import { errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import { RelayError } from "../../../base/errors.ts";
import { cleanEmail } from "../../records/email_address.ts";
import type { GoogleKeys } from "./google_keys.ts";

/** The person a token stands for. */
export interface GoogleIdentity {
  /** What Google calls the account, for ever: the identity. At most 255 ASCII characters. */
  sub: string;
  /** The account's e-mail address, which Google has verified, as cleanEmail() gives it. */
  email: string;
}

export interface IdTokenRules {
  keys: Pick<GoogleKeys, "find">;
  /** The OAuth client id that tokens for this relay name. */
  clientId: string;
  /** Unix ms. */
  nowMs: number;
}

/** Both spellings that Google uses. */
const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];
const MAX_TOKEN_CHARACTERS = 16_384;
const MAX_KEY_ID_CHARACTERS = 256;
/** JWS compact serialization (RFC 7515, section 7.1): three parts in base64url. */
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const MAX_AGE_SECONDS = 3600;
/** So far Google's clock may be ahead of this one. */
const SKEW_SECONDS = 60;
const SUB = /^[\x21-\x7e]{1,255}$/;
/**
 * The identity of a token: signed RS256 by Google, for this relay, at most an hour ago, not expired,
 * its e-mail address verified.
 * @throws RelayError `invalid_google_token`; `internal` where Google's keys are not to be had
 */
export async function readIdToken(
  token: string,
  { keys, clientId, nowMs }: IdTokenRules,
): Promise<GoogleIdentity> {
  if (token.length > MAX_TOKEN_CHARACTERS || !COMPACT.test(token)) {
    throw invalidToken("is no JWT: three parts in base64url with dots between them");
  }
  const claims = await verify(token, { keys, clientId, nowMs });
  const { aud, iat, sub, email, email_verified } = claims;
  // A token for several audiences may be kept by any of them.
  if (aud !== clientId) throw badClaim("aud");
  const ageSeconds = Math.floor(nowMs / 1000) - iat!; // required, and jose takes numbers alone
  if (ageSeconds > MAX_AGE_SECONDS) throw invalidToken("is more than an hour old; sign in anew");
  if (ageSeconds < -SKEW_SECONDS) throw invalidToken("was issued in the future");
  if (typeof sub !== "string" || !SUB.test(sub)) throw badClaim("sub");
  if (email_verified !== true) {
    throw invalidToken("has an e-mail address that Google has not verified");
  }
  return { sub, email: readEmail(email) };
}

/** @throws RelayError `invalid_google_token` */
function readEmail(given: unknown): string {
  try {
    return cleanEmail("email", given);
  } catch (error) {
    if (error instanceof RelayError && error.code === "invalid_email") throw badClaim("email");
    throw error;
  }
}

async function verify(
  token: string,
  { keys, clientId, nowMs }: IdTokenRules,
): Promise<JWTPayload> {
  // Asked for before anything of the token is proven.
  async function findKey({ kid }: JWTHeaderParameters): Promise<CryptoKey> {
    const isKeyId = typeof kid === "string" && kid.length <= MAX_KEY_ID_CHARACTERS;
    const key = isKeyId ? await keys.find(kid) : null;
    if (key === null) throw unknownSigner();
    return key;
  }
  try {
    const { payload } = await jwtVerify(token, findKey, {
      algorithms: ["RS256"],
      issuer: ISSUERS,
      audience: clientId,
      requiredClaims: ["iat", "exp", "sub"],
      currentDate: new Date(nowMs),
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw invalidToken("has expired; sign in anew");
    if (error instanceof errors.JWTClaimValidationFailed) throw badClaim(error.claim);
    if (error instanceof errors.JOSEAlgNotAllowed) throw invalidToken("must be signed with RS256");
    if (error instanceof errors.JWSSignatureVerificationFailed) throw unknownSigner();
    if (error instanceof errors.JOSEError) throw invalidToken("is no JWT that this relay can read");
    throw error;
  }
}

const CLAIMS: Readonly<Record<string, string>> = {
  iss: "must be issued by https://accounts.google.com",
  aud: "must be for this relay alone: its aud is the client id of the relay",
  sub: "must have a sub, the identity",
  exp: "must say in exp when it expires",
  iat: "must say in iat when it was issued",
  nbf: "is not valid yet",
  email: "must have an e-mail address in ASCII; ask for the scope email",
};

function badClaim(claim: string): RelayError {
  return invalidToken(CLAIMS[claim] ?? "has a claim that this relay does not take");
}

function unknownSigner(): RelayError {
  return invalidToken("is not signed with a key of Google's");
}

function invalidToken(what: string): RelayError {
  return new RelayError("invalid_google_token", `the id_token ${what}`);
}
