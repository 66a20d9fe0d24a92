/**
 * The program of the verification worker. It is imported as text and runs from a data: URL, since a
 * worker from a file would need the permission to read it; so it imports nothing of the project.
 *
 * It speaks with its host as server/base/workers/serve_jobs.ts does. A job is a batch of three texts a
 * signature: the public key (32 bytes, base64url), the signature (64 bytes, base64) and the string that
 * was signed. Its result is one text, a character a signature: 1 valid, 0 false, ? where the check
 * itself failed.
 */
import { Buffer } from "node:buffer";
import { createPublicKey, verify } from "node:crypto";

/** Keys in memory: the newest ones, and those that were the newest before. */
const REMEMBERED = 10_000;
let keys = new Map();
let formerKeys = new Map();

/** @param {string} x */
function keyOf(x) {
  let key = keys.get(x);
  if (key !== undefined) return key;
  key = formerKeys.get(x) ??
    createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  if (keys.size >= REMEMBERED) {
    formerKeys = keys;
    keys = new Map();
  }
  keys.set(x, key);
  return key;
}

/** @param {[x: string, signature: string, text: string]} check */
function verdictOn([x, signature, text]) {
  try {
    const isValid = verify(null, Buffer.from(text), keyOf(x), Buffer.from(signature, "base64"));
    return isValid ? "1" : "0";
  } catch {
    return "?";
  }
}

/** @param {MessageEvent<{ id: number, job: string[] }>} event */
globalThis.onmessage = ({ data: { id, job } }) => {
  let result = "";
  for (let i = 0; i < job.length; i += 3) result += verdictOn([job[i], job[i + 1], job[i + 2]]);
  globalThis.postMessage({ id, result });
};
globalThis.postMessage("ready");
