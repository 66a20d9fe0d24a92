/** A client of the messaging API for Node.js, Deno and Bun that needs no library. */
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import process from "node:process";

const RELAY = "http://127.0.0.1:8000";
// 32 random bytes as hex: openssl rand -hex 32. Secret: whoever has it is you.
const seedHex = process.env.RELAY_PRIVATE_KEY_HEX;

const key = createPrivateKey({
  key: Buffer.from("302e020100300506032b657004220420" + seedHex, "hex"),
  format: "der",
  type: "pkcs8",
});
const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(12);
export const address = base58(publicKey);

/** The last timestamp of each request: equal requests of one second would be one request. */
const used = new Map();

function unusedTimestamp(text) {
  const now = Math.floor(Date.now() / 1000);
  const timestamp = Math.max(now, (used.get(text) ?? 0) + 1);
  for (const [old, seconds] of used) if (seconds < now) used.delete(old);
  used.set(text, timestamp);
  return timestamp;
}

/** Sends a signed request; path without the query, body as the exact string that is sent. */
export async function call(method, path, { query = "", body = "" } = {}) {
  const hash = createHash("sha256").update(body).digest("hex");
  const text = `relay:v1:${method}:${path}:${hash}:`;
  const timestamp = unusedTimestamp(text);
  const response = await fetch(RELAY + path + query, {
    method,
    headers: {
      "X-Relay-Pubkey": address,
      "X-Relay-Timestamp": String(timestamp),
      "X-Relay-Signature": sign(null, Buffer.from(text + timestamp), key).toString("base64"),
    },
    ...(body === "" ? {} : { body }),
  });
  return { status: response.status, answer: await response.json() };
}

function base58(bytes) {
  const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let number = BigInt("0x" + Buffer.from(bytes).toString("hex"));
  let text = "";
  for (; number > 0n; number /= 58n) text = letters[Number(number % 58n)] + text;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = "1" + text;
  }
  return text;
}
