/** A stand-in for Google: an HTTP server with a JWK set, and the tokens that its keys sign. */
import { base64urlnopad } from "@scure/base";
import { parseConfig } from "../../server/base/config/config.ts";
import { startMailRelay } from "./mail_relay.ts";
import type { TestRelay, TestRelayOptions } from "./relay.ts";
import { startTestServer } from "./test_server.ts";

export const CLIENT_ID = "relay-tests.apps.googleusercontent.com";

/** Claims or header members of a token; undefined leaves one out. */
export type Members = Record<string, unknown>;

export interface SigningKey {
  kid: string;
  pair: CryptoKeyPair;
  jwk: JsonWebKey;
}

export interface GoogleIssuer extends AsyncDisposable {
  /** Of the JWK set. */
  url: string;
  /** Settings of a relay that takes its tokens. */
  env: Record<string, string>;
  /** The keys that are published; the last one signs. */
  keys: SigningKey[];
  /** How often the JWK set was asked for. */
  asked: number;
  /** Answers in place of the JWK set, while it is set. */
  answer: (() => Response | Promise<Response>) | null;
  /** Publishes a new key in place of the others. */
  rotate(): Promise<void>;
  /** A good token of an account at a time, with other claims or header members where given. */
  token(nowMs: number, claims?: Members, header?: Members, key?: SigningKey): Promise<string>;
}

export async function startGoogleIssuer(): Promise<GoogleIssuer> {
  let made = 0;
  const nextKey = () => makeSigningKey(`key-${++made}`);
  const server = startTestServer(() => {
    issuer.asked++;
    return issuer.answer?.() ?? jwkSet(issuer.keys);
  });
  const url = `http://127.0.0.1:${server.port}/certs`;
  const issuer: GoogleIssuer = {
    url,
    env: { RELAY_GOOGLE_CLIENT_ID: CLIENT_ID, RELAY_GOOGLE_JWKS_URL: url },
    keys: [await nextKey()],
    asked: 0,
    answer: null,
    async rotate() {
      issuer.keys = [await nextKey()];
    },
    token(nowMs, claims = {}, header = {}, key = issuer.keys.at(-1)!) {
      return signToken(key, { alg: "RS256", kid: key.kid, typ: "JWT", ...header }, {
        ...goodClaims(nowMs),
        ...claims,
      });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
  return issuer;
}

/** As startMailRelay(), with sign-in by an issuer. */
export async function startGoogleRelay(
  issuer: Pick<GoogleIssuer, "env">,
  options: TestRelayOptions = {},
): Promise<TestRelay> {
  const { mail } = parseConfig({ RELAY_MAIL_DEV: "true", ...issuer.env });
  return await startMailRelay({ ...options, config: { mail, ...options.config } });
}

/** What Google says of the account "1001" in a token that is issued now. */
export function goodClaims(nowMs: number): Members {
  const nowSeconds = Math.floor(nowMs / 1000);
  return {
    iss: "https://accounts.google.com",
    azp: CLIENT_ID,
    aud: CLIENT_ID,
    sub: "1001",
    email: "Ada@Example.org",
    email_verified: true,
    nbf: nowSeconds - 300,
    iat: nowSeconds,
    exp: nowSeconds + 3600,
  };
}

export async function makeSigningKey(kid: string, modulusLength = 2048): Promise<SigningKey> {
  const pair = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      hash: "SHA-256",
      modulusLength,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    true,
    ["sign", "verify"],
  );
  const { kty, n, e } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return { kid, pair, jwk: { kty, n, e } };
}

export function jwkSet(keys: readonly SigningKey[]): Response {
  return Response.json({
    keys: keys.map(({ kid, jwk }) => ({ ...jwk, kid, use: "sig", alg: "RS256" })),
  });
}

/** A token signed RS256, whatever its header says. */
export async function signToken(key: SigningKey, header: Members, claims: Members) {
  const signed = `${encodePart(header)}.${encodePart(claims)}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", key.pair.privateKey, bytes);
  return `${signed}.${base64urlnopad.encode(new Uint8Array(signature))}`;
}

export function encodePart(members: Members): string {
  return base64urlnopad.encode(new TextEncoder().encode(JSON.stringify(members)));
}
