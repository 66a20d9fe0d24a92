/** Agents of the benchmark: registered on a relay, with a native signer and requests made beforehand. */
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { canonicalJson } from "../toolkit/canonical_json.ts";
import { generateKeyPair } from "../toolkit/generate_key_pair.ts";
import { httpRequest } from "./load.ts";

export interface BenchAgent {
  address: string;
  ownerToken: string;
  key: KeyObject;
  /** 32 bytes, base64url. */
  publicKey: string;
}

const encoder = new TextEncoder();

/** @param word what their handles begin with */
export async function registerAgents(
  port: number,
  count: number,
  word = "bench",
): Promise<BenchAgent[]> {
  const agents: BenchAgent[] = [];
  const prefix = Math.random().toString(36).slice(2, 8);
  for (let i = 0; i < count; i++) {
    const pair = generateKeyPair();
    const d = Buffer.from(pair.privateKey).toString("base64url");
    const x = Buffer.from(pair.publicKey).toString("base64url");
    const answer = await fetch(`http://127.0.0.1:${port}/v1/register`, {
      method: "POST",
      body: JSON.stringify({ handle: `${word}_${prefix}_${i}`, pubkey: pair.address }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    const { owner_token } = await answer.json();
    const jwk = { kty: "OKP", crv: "Ed25519", d, x };
    const key = createPrivateKey({ key: jwk, format: "jwk" });
    agents.push({ address: pair.address, ownerToken: owner_token, key, publicKey: x });
  }
  return agents;
}

export function signedRequest(
  agent: BenchAgent,
  method: string,
  path: string,
  query = "",
  body: Uint8Array = new Uint8Array(),
): Uint8Array {
  return httpRequest(method, path + query, signedHeaders(agent, method, path, body), body);
}

function signedHeaders(
  agent: BenchAgent,
  method: string,
  path: string,
  body: Uint8Array = new Uint8Array(),
): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000);
  const hash = createHash("sha256").update(body).digest("hex");
  const text = Buffer.from(`relay:v1:${method}:${path}:${hash}:${timestamp}`);
  return {
    "x-relay-pubkey": agent.address,
    "x-relay-timestamp": String(timestamp),
    "x-relay-signature": sign(null, text, agent.key).toString("base64"),
  };
}

let sequence = 0;

/** A signed send of a 200-byte body that no other send equals. */
export function sendRequest(from: BenchAgent, to: BenchAgent): Uint8Array {
  const text = String(++sequence).padEnd(200 - '{"text":""}'.length, "x");
  const body = encoder.encode(canonicalJson({ body: { text }, to: to.address }));
  return signedRequest(from, "POST", "/v1/messages", "", body);
}
