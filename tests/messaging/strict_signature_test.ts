/** Signatures that some verifiers take and this relay does not: one message, one key, one signature. */
import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { Buffer } from "node:buffer";
import { base64 } from "@scure/base";
import { canonicalString } from "../../toolkit/mod.ts";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent, type TestAgent } from "../support/test_agent.ts";

/** Order of the base point: RFC 8032, section 5.1. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
/** Encoding of the neutral point, whose order is 1. */
const IDENTITY = Uint8Array.of(1, ...new Uint8Array(31));

function readScalar(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

function writeScalar(scalar: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((scalar >> BigInt(8 * i)) & 255n));
}

const sha512 = (...parts: Uint8Array[]) =>
  createHash("sha512").update(Buffer.concat(parts)).digest();

/** A signature with the nonce 0: its R is the neutral point, and S * B = R + k * A holds. */
function signWithoutNonce(agent: TestAgent, message: Uint8Array): Uint8Array {
  const secret = sha512(agent.keys.privateKey).subarray(0, 32);
  secret[0]! &= 248;
  secret[31]! = (secret[31]! & 127) | 64;
  const k = readScalar(sha512(IDENTITY, agent.keys.publicKey, message)) % ORDER;
  return Uint8Array.of(...IDENTITY, ...writeScalar((k * readScalar(secret)) % ORDER));
}

Deno.test("a signature whose R is of small order is refused, though the native verifier takes it", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const good = agent.sign("GET", "/v1/whoami");
  const text = canonicalString({
    method: "GET",
    path: "/v1/whoami",
    body: new Uint8Array(0),
    timestamp: relay.clock.seconds(),
  });
  const message = new TextEncoder().encode(text);
  const signature = signWithoutNonce(agent, message);
  const x = Buffer.from(agent.keys.publicKey).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  assert.ok(verify(null, message, key, signature), "the test would prove nothing");
  const headers = { ...good, "X-Relay-Signature": base64.encode(signature) };
  const answer = await ask(`${relay.url}/v1/whoami`, { headers });
  assertRefused(answer, "invalid_signature", /does not verify/);
});

Deno.test("a signature with S and a multiple of the order added is refused", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const good = agent.sign("GET", "/v1/whoami");
  assertStatus(await ask(`${relay.url}/v1/whoami`, { headers: good }), 200);
  const bytes = base64.decode(good["X-Relay-Signature"]!);
  const s = readScalar(bytes.subarray(32));
  for (let times = 1n; s + times * ORDER < 2n ** 256n; times += 3n) {
    bytes.set(writeScalar(s + times * ORDER), 32);
    const headers = { ...good, "X-Relay-Signature": base64.encode(bytes) };
    const answer = await ask(`${relay.url}/v1/whoami`, { headers });
    assertRefused(answer, "invalid_signature", /does not verify/);
  }
});
