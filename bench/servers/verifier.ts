/** Verifications in one thread: whole messages by the toolkit, or bare signatures by a library. */
import { hashes, verify as nobleVerify } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { base58, base64 } from "@scure/base";
import { createPublicKey, verify as nativeVerify } from "node:crypto";
import { generateKeyPair, verifyMessage } from "../../toolkit/mod.ts";
import { sampleMessage } from "../sample_message.ts";
import { answerLines } from "./child.ts";

const { path, messages: count }: { path: "native" | "pure"; messages: number } = JSON.parse(
  Deno.args[0]!,
);
// What a page without TLS has, and an old platform: no WebCrypto, so that the toolkit computes.
if (path === "pure") Object.defineProperty(globalThis.crypto, "subtle", { value: undefined });
hashes.sha512 = sha512;

const SENDERS = 100;
const recipient = generateKeyPair();
const senders = Array.from({ length: SENDERS }, () => generateKeyPair());
const messages = Array.from(
  { length: count },
  (_, i) => sampleMessage(i, senders[i % SENDERS]!, recipient.address),
);

/** Every verdict on every message: signature, sender, hash, binding. */
async function whole(): Promise<void> {
  for (const message of messages) {
    const { signature, body } = await verifyMessage(message, { recipient, from: message.from });
    if (signature !== "valid" || body !== "bound") throw new Error("a message was refused");
  }
}

/** The signature alone, by the fastest that the platform or the library has. */
function bare(): void {
  for (const { from, canonical_string, signature } of messages) {
    const text = new TextEncoder().encode(canonical_string!);
    const bytes = base64.decode(signature);
    if (!bareVerify(text, bytes, base58.decode(from))) throw new Error("a signature was refused");
  }
}

function bareVerify(text: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  if (path === "pure") return nobleVerify(signature, text, publicKey, { zip215: false });
  const x = base64.encode(publicKey).replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return nativeVerify(null, text, key, signature);
}

console.log(JSON.stringify({ ready: true }));
await answerLines(async (line) => {
  const beganMs = performance.now();
  if (line === "whole") await whole();
  else bare();
  return count / ((performance.now() - beganMs) / 1000);
});
