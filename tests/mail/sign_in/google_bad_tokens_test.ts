/** ID tokens that open nothing, at both routes that take one. */
import assert from "node:assert/strict";
import { createHmac, createPublicKey } from "node:crypto";
import { base64urlnopad } from "@scure/base";
import {
  CLIENT_ID,
  encodePart,
  goodClaims,
  type GoogleIssuer,
  makeSigningKey,
  type Members,
  startGoogleIssuer,
  startGoogleRelay,
} from "../../support/google_issuer.ts";
import { askMail, registerOrg } from "../../support/mail_relay.ts";
import { attach, signedIn, signIn } from "./google_calls.ts";
import { openMemoryKv } from "../../support/read_through.ts";

const HOUR_SECONDS = 3600;

/** Claims that make a token a bad one, by what is wrong with it; told the time in seconds. */
const BAD_CLAIMS: Record<string, (nowSeconds: number) => Members> = {
  "another issuer": () => ({ iss: "https://accounts.example.com" }),
  "an issuer with a slash": () => ({ iss: "https://accounts.google.com/" }),
  "an issuer in an array": () => ({ iss: ["https://accounts.google.com"] }),
  "no issuer": () => ({ iss: undefined }),
  "another audience": () => ({ aud: "other.apps.googleusercontent.com" }),
  "the audience in an array": () => ({ aud: [CLIENT_ID] }),
  "several audiences": () => ({ aud: [CLIENT_ID, "other.apps.googleusercontent.com"] }),
  "the audience in another case": () => ({ aud: CLIENT_ID.toUpperCase() }),
  "no audience": () => ({ aud: undefined }),
  "an end that is now": (now) => ({ exp: now }),
  "an end in the past": (now) => ({ iat: now - 100, exp: now - 1 }),
  "no end": () => ({ exp: undefined }),
  "an end as text": (now) => ({ exp: String(now + 100) }),
  "an issue over an hour ago": (now) => ({ iat: now - HOUR_SECONDS - 1, exp: now + 100 }),
  "an issue in the future": (now) => ({ iat: now + 61, exp: now + HOUR_SECONDS }),
  "no issue": () => ({ iat: undefined }),
  "an issue as text": (now) => ({ iat: String(now) }),
  "a beginning in the future": (now) => ({ nbf: now + 1 }),
  "an address verified in text": () => ({ email_verified: "true" }),
  "an address verified in a number": () => ({ email_verified: 1 }),
  "an address that is not verified": () => ({ email_verified: false }),
  "nothing on the address": () => ({ email_verified: undefined }),
  "no address": () => ({ email: undefined }),
  "an empty address": () => ({ email: "" }),
  "an address of two lines": () => ({ email: "ada@example.org\r\nBcc: eve@example.org" }),
  "an address at an IP": () => ({ email: "ada@[127.0.0.1]" }),
  "an address that is too long": () => ({ email: `${"a".repeat(65)}@example.org` }),
  "an address with another letter": () => ({ email: "аda@example.org" }),
  "no sub": () => ({ sub: undefined }),
  "an empty sub": () => ({ sub: "" }),
  "a sub in a number": () => ({ sub: 1001 }),
  "a sub in an array": () => ({ sub: ["1001"] }),
  "a sub that is too long": () => ({ sub: "1".repeat(256) }),
  "a sub with a line break": () => ({ sub: "1001\n" }),
};

/** Tokens that are broken in another way than by their claims. */
async function otherBadTokens(
  issuer: GoogleIssuer,
  nowMs: number,
): Promise<Record<string, string>> {
  const good = await issuer.token(nowMs);
  const [header, payload, signature] = good.split(".") as [string, string, string];
  const claims = goodClaims(nowMs);
  const [key] = issuer.keys;
  const foreign = await makeSigningKey(key!.kid);
  const pem = createPublicKey({ key: { ...key!.jwk }, format: "jwk" })
    .export({ type: "spki", format: "pem" });
  const hs256 = (secret: string | Uint8Array) => {
    const signed = `${encodePart({ alg: "HS256", kid: key!.kid, typ: "JWT" })}.${payload}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  };
  const none = (alg: string) => `${encodePart({ alg, kid: key!.kid })}.${payload}.`;
  const admin = encodePart({ ...claims, sub: "1" });
  return {
    "alg none": none("none"),
    "alg None": none("None"),
    "alg none with a signature": `${
      encodePart({ alg: "none", kid: key!.kid })
    }.${payload}.${signature}`,
    "HS256 with the public key": hs256(pem),
    "HS256 with the modulus": hs256(base64urlnopad.decode(key!.jwk.n!)),
    "RS512 in the header": await issuer.token(nowMs, {}, { alg: "RS512" }),
    "PS256 in the header": await issuer.token(nowMs, {}, { alg: "PS256" }),
    "no alg": await issuer.token(nowMs, {}, { alg: undefined }),
    "a foreign key with a known id": await issuer.token(nowMs, {}, {}, foreign),
    "a foreign key in the header": await issuer.token(nowMs, {}, { jwk: foreign.jwk }, foreign),
    "a key's address in the header": await issuer.token(nowMs, {}, { jku: issuer.url }, foreign),
    "a key id of nobody's": await issuer.token(nowMs, {}, { kid: "unknown" }),
    "no key id": await issuer.token(nowMs, {}, { kid: undefined }),
    "a key id that is no text": await issuer.token(nowMs, {}, { kid: 1 }),
    "a key id of an object's member": await issuer.token(nowMs, {}, { kid: "__proto__" }),
    "a critical extension": await issuer.token(nowMs, {}, { crit: ["exp"], exp: 1 }),
    "a payload that is not encoded": await issuer.token(nowMs, {}, { crit: ["b64"], b64: false }),
    "other claims under the signature": `${header}.${admin}.${signature}`,
    "a truncated signature": good.slice(0, -4),
    "no signature": `${header}.${payload}.`,
    "two parts": `${header}.${payload}`,
    "one part": header,
    "two tokens": `${good}${good}`,
    "two tokens with a dot": `${good}.${good}`,
    "two tokens with a comma": `${good},${good}`,
    "a space behind it": `${good} `,
    "a scheme before it": `Bearer ${good}`,
    "padding": `${good}=`,
    "an encrypted token's five parts": `${header}.${payload}.${payload}.${payload}.${signature}`,
    "claims in an array": await tokenOf(issuer, "[]"),
    "claims that are no JSON": await tokenOf(issuer, "{"),
    "nothing": "",
    "a word": "token",
    "a very long one": await issuer.token(nowMs, { more: "x".repeat(20_000) }),
  };
}

async function tokenOf(issuer: GoogleIssuer, payload: string): Promise<string> {
  const key = issuer.keys.at(-1)!;
  const encoded = base64urlnopad.encode(new TextEncoder().encode(payload));
  const signed = `${encodePart({ alg: "RS256", kid: key.kid })}.${encoded}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", key.pair.privateKey, bytes);
  return `${signed}.${base64urlnopad.encode(new Uint8Array(signature))}`;
}

Deno.test("every kind of bad token is 401 invalid_google_token at both routes, and makes nothing", async () => {
  const kv = await openMemoryKv();
  try {
    await using issuer = await startGoogleIssuer();
    await using relay = await startGoogleRelay(issuer, { deps: { kv } });
    const { apiKey } = await registerOrg(relay);
    const nowMs = relay.clock.now();
    const tokens = await otherBadTokens(issuer, nowMs);
    for (const [what, claimsAt] of Object.entries(BAD_CLAIMS)) {
      tokens[what] = await issuer.token(nowMs, claimsAt(relay.clock.seconds()));
    }
    assert.ok(Object.keys(tokens).length > 60);
    for (const [what, token] of Object.entries(tokens)) {
      for (const answer of [await signIn(relay, token), await attach(relay, apiKey, token)]) {
        const { status, body } = answer;
        assert.deepEqual([status, body.error?.code], [401, "invalid_google_token"], what);
        assert.match(body.error.message, /^the id_token /, what);
        assert.equal(answer.headers.get("www-authenticate"), "Bearer");
        // What a stranger sent does not come back.
        assert.doesNotMatch(body.error.message, /1001|ada@|eyJ/i, what);
      }
    }
    const org = await askMail(relay.url, "GET", "/v1/mail/org", { key: apiKey });
    assert.deepEqual([org.body.trial, org.body.google_email], [true, null]);
    const made = await Array.fromAsync(kv.list({ prefix: ["mail-google"] }));
    assert.deepEqual(made, []);
    assert.deepEqual((await Array.fromAsync(kv.list({ prefix: ["mail-org"] }))).length, 1);
    assert.deepEqual(relay.logged.filter(({ event }) => event === "request_failed"), []);
    // The same account with a good token gets in: the tokens above were bad, and nothing else.
    await signedIn(relay, await issuer.token(nowMs));
    await relay.stop();
  } finally {
    kv.close();
  }
});

Deno.test("tokens at the edge of what is taken are good ones", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const now = relay.clock.seconds();
  const edges: Record<string, Members> = {
    "issued an hour ago": { iat: now - HOUR_SECONDS, exp: now + 1 },
    "Google's clock a minute ahead": { iat: now + 60 },
    "Google's other spelling": { iss: "accounts.google.com" },
    "no nbf": { nbf: undefined },
    "a sub of 255": { sub: "1".repeat(255) },
    "a tagged address of a subdomain": { email: "ada.b+c@mail.xn--bcher-kva.example" },
    "more claims": { hd: "example.org", nonce: "x", aud2: [1] },
  };
  for (const [what, claims] of Object.entries(edges)) {
    const answer = await signIn(relay, await issuer.token(relay.clock.now(), claims));
    assert.equal(answer.status, 200, `${what}: ${JSON.stringify(answer.body)}`);
  }
});

Deno.test("a token is good until it ends, and an hour at most", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const { clock } = relay;
  const token = await issuer.token(clock.now());
  const long = await issuer.token(clock.now(), { exp: clock.seconds() + 86_400 });
  clock.advance(HOUR_SECONDS * 1000 - 1);
  assert.equal((await signIn(relay, token)).status, 200);
  clock.advance(1);
  const ended = await signIn(relay, token);
  assert.match(ended.body.error.message, /has expired; sign in anew/);
  assert.equal((await signIn(relay, long)).status, 200);
  clock.advance(1000);
  const old = await signIn(relay, long);
  assert.deepEqual([old.status, old.body.error.code], [401, "invalid_google_token"]);
  assert.match(old.body.error.message, /more than an hour old/);
});
