/** The sender of a request: by its signature or its token (specification, section 5). */
import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import type { Context } from "hono";
import { AddressError } from "../../../toolkit/address_error.ts";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import { hasStrictSignatureForm } from "../../../toolkit/strict_signature.ts";
import { type Identity, tokenKey, type TokenKind, type TokenRecord } from "./agent_records.ts";
import type { Identities } from "./identities.ts";
import type { Presence } from "./presence.ts";
import { isTokenForm } from "./tokens.ts";
import { importVerifyingKey } from "../../base/http/callers/verifying_key.ts";
import type { SignatureVerifier } from "./verification/signature_verifier.ts";
import type { SignatureUse } from "./signature_use.ts";
import { RelayError } from "../../base/errors.ts";
import { bearerCallers } from "../../base/http/callers/bearer_callers.ts";
import {
  hasSignature,
  readSignature,
  type SignatureHeaders,
  stringToSign,
} from "../../base/http/callers/credentials.ts";
import { whenReady } from "../../base/http/callers/when_ready.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import type { IdentifyCaller } from "../../base/http/callers/with_caller.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { isTimely, type PossibleTimes, serverSeconds } from "../../base/storage/rows/timely.ts";

export type Credential = SignatureCredential | { kind: TokenKind };

export interface SignatureCredential {
  kind: "signature";
  use: SignatureUse;
  /** The string that was signed. */
  canonicalString: string;
}

export interface Caller {
  agent: Identity;
  credential: Credential;
}

const TIMESTAMP = /^(0|[1-9][0-9]{0,14})$/;
const NO_BYTES: Uint8Array = new Uint8Array(0);
export interface Authenticator {
  /**
   * The caller of a request.
   * @param body raw request body; nothing for GET and HEAD
   * @throws RelayError `invalid_signature`, `unknown_agent`, `timestamp_out_of_range`, `unknown_token`
   */
  authenticate: IdentifyCaller<Caller>;
  /**
   * As authenticate, but does not record the caller as seen: for routes that may still answer 401
   * to a valid credential, which then record it themselves.
   */
  identify: IdentifyCaller<Caller>;
  /** The caller that a token belongs to, not recorded as seen. @throws RelayError `unknown_token` */
  identifyToken(token: string): Promise<Caller>;
  /**
   * Proof that the sender of a registration holds the private key of the key it registers.
   * @returns false when no signature header was sent
   * @throws RelayError as authenticate
   */
  proveKey(c: Context<HttpEnv>, body: Uint8Array, address: string): boolean;
}

export interface AuthenticatorOptions {
  identities: Identities;
  records: Pick<RecordCache, "inMemory" | "read">;
  presence: Pick<Presence, "touch">;
  clock: PossibleTimes;
  signatureWindowSeconds: number;
  verifier: Pick<SignatureVerifier, "verify">;
}

export function createAuthenticator(
  { identities, records, presence, clock, signatureWindowSeconds, verifier }: AuthenticatorOptions,
): Authenticator {
  /** By the records that memory holds: a changed record is another object, an identity never changes. */
  const tokenCallers = new WeakMap<TokenRecord, Caller>();
  const byToken = bearerCallers<TokenRecord, Caller>({
    isTokenForm,
    find(tokenHash) {
      const key = tokenKey(tokenHash);
      return records.inMemory(key) ?? records.read(key);
    },
    admit: (record) => tokenCallers.get(record) ?? admitToken(record),
    missing: noCredentials,
    unknown: unknownToken,
  });

  async function admitToken(record: TokenRecord): Promise<Caller> {
    const agent = await identities.byId(record.agentId);
    const caller: Caller = { agent, credential: { kind: record.kind } };
    tokenCallers.set(record, caller);
    return caller;
  }

  function authenticate(c: Context<HttpEnv>, body = NO_BYTES): Caller | Promise<Caller> {
    return whenReady(identify(c, body), (caller) => {
      if (!c.get("head")) presence.touch(caller.agent.id);
      return caller;
    });
  }

  function identify(c: Context<HttpEnv>, body = NO_BYTES): Caller | Promise<Caller> {
    return hasSignature(c.req.raw.headers) ? bySignature(c, body) : byToken.identify(c);
  }

  function bySignature(c: Context<HttpEnv>, body: Uint8Array): Caller | Promise<Caller> {
    const signed = readSignature(c.req.raw.headers);
    // Text of another length cannot be a key; a registered one needs no decoding.
    const fits = signed.address.length >= 33 && signed.address.length <= 44;
    const agent = fits
      ? identities.addressInMemory(signed.address) ?? identities.byAddress(signed.address)
      : null;
    return whenReady(agent, (agent) => bySignatureOf(agent, signed, c, body));
  }

  function bySignatureOf(
    agent: Identity | null,
    signed: SignatureHeaders,
    c: Context<HttpEnv>,
    body: Uint8Array,
  ): Caller | Promise<Caller> {
    if (agent === null) requireAddress(signed.address);
    const timestampSeconds = requireTimely(signed.timestamp);
    if (agent === null) {
      throw new RelayError(
        "unknown_agent",
        "X-Relay-Pubkey is not registered; register it with POST /v1/register",
      );
    }
    const canonicalString = stringToSign(c, body, signed.timestamp);
    const signature = Buffer.from(signed.signature, "base64");
    return whenReady(verifier.verify(agent, canonicalString, signature), (isValid) => {
      if (!isValid) throw falseSignature(canonicalString);
      const use = { signature, timestampSeconds };
      return { agent, credential: { kind: "signature", use, canonicalString } };
    });
  }

  function proveKey(c: Context<HttpEnv>, body: Uint8Array, address: string): boolean {
    const { headers } = c.req.raw;
    if (!hasSignature(headers)) return false;
    const signed = readSignature(headers);
    if (signed.address !== address) {
      throw new RelayError(
        "invalid_signature",
        "X-Relay-Pubkey is another key than the pubkey to be registered; sign with the key that you register",
      );
    }
    requireTimely(signed.timestamp);
    const canonicalString = stringToSign(c, body, signed.timestamp);
    requireSignature(
      decodeAddress(address),
      canonicalString,
      Buffer.from(signed.signature, "base64"),
    );
    return true;
  }

  /** @throws RelayError `timestamp_out_of_range` */
  function requireTimely(timestamp: string): number {
    const seconds = Number(timestamp);
    if (!TIMESTAMP.test(timestamp) || !isTimely(seconds, clock, signatureWindowSeconds)) {
      const unit = /^[0-9]{13}$/.test(timestamp) ? "; this one looks like milliseconds" : "";
      throw new RelayError(
        "timestamp_out_of_range",
        `X-Relay-Timestamp must be unix time in whole seconds, at most ${signatureWindowSeconds} s from the server's ${
          serverSeconds(clock)
        }${unit}`,
      );
    }
    return seconds;
  }

  return { authenticate, identify, identifyToken: byToken.identifyToken, proveKey };
}

function noCredentials(): RelayError {
  return new RelayError(
    "unknown_token",
    "no credentials: sign the request (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature) or send Authorization: Bearer with a token of this relay",
  );
}

function unknownToken(): RelayError {
  return new RelayError(
    "unknown_token",
    "the bearer token is not known here: it was replaced, its key was exported, or it belongs to another relay",
    {
      toolMessage:
        "the token is not known here: it was replaced, its key was exported, or it belongs to another relay; look for the one that register returned, or register another agent",
    },
  );
}

/** @throws RelayError `unknown_agent` */
function requireAddress(address: string): void {
  try {
    decodeAddress(address);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new RelayError(
      "unknown_agent",
      "X-Relay-Pubkey must be the base58 of a 32-byte Ed25519 public key that is registered here",
    );
  }
}

/** @throws RelayError `invalid_signature` */
function requireSignature(
  key: Uint8Array,
  canonicalString: string,
  signature: Uint8Array,
): void {
  if (
    hasStrictSignatureForm(signature) &&
    verify(null, Buffer.from(canonicalString), importVerifyingKey(key), signature)
  ) return;
  throw falseSignature(canonicalString);
}

function falseSignature(canonicalString: string): RelayError {
  return new RelayError(
    "invalid_signature",
    `the signature does not verify; what was to be signed is ${canonicalString}`,
  );
}
