/** An agent without libraries, for Deno, Bun and Node.js 22.18 or later: relay.ts HANDLE [TO TEXT] */
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import process from "node:process";

const RELAY = "http://127.0.0.1:8000";
// 32 random bytes as hex: openssl rand -hex 32. Secret: whoever has it is you.
const seedHex = process.env.RELAY_PRIVATE_KEY_HEX;

const der = { format: "der", type: "pkcs8" } as const;
const pkcs8 = Buffer.from("302e020100300506032b657004220420" + seedHex, "hex");
const key = createPrivateKey({ key: pkcs8, ...der });
const spki = createPublicKey(key).export({ format: "der", type: "spki" });
export const address = base58(spki.subarray(12));

/** Sends a signed request; the path without its query, the body as the exact text that is sent. */
export async function call(method: string, path: string, query = "", body = "") {
  const hash = createHash("sha256").update(body).digest("hex");
  const text = `relay:v1:${method}:${path}:${hash}:`;
  const timestamp = unusedTimestamp(text);
  const signature = sign(null, Buffer.from(text + timestamp), key).toString("base64");
  const response = await fetch(RELAY + path + query, {
    method,
    headers: {
      "X-Relay-Pubkey": address,
      "X-Relay-Timestamp": String(timestamp),
      "X-Relay-Signature": signature,
    },
    body: body || undefined,
  });
  return { status: response.status, answer: await response.json() };
}

const used = new Map<string, number>();

/** Equal requests of one second would be one request. */
function unusedTimestamp(text: string): number {
  const timestamp = Math.max(Math.floor(Date.now() / 1000), (used.get(text) ?? 0) + 1);
  used.set(text, timestamp);
  return timestamp;
}

function base58(bytes: Uint8Array): string {
  const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let number = BigInt("0x" + Buffer.from(bytes).toString("hex"));
  let text = "";
  for (; number > 0n; number /= 58n) text = letters[Number(number % 58n)] + text;
  return "1".repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}

const [handle, to, text] = process.argv.slice(2);
const registration = JSON.stringify({ handle, pubkey: address });
console.log((await call("POST", "/v1/register", "", registration)).answer);
if (to) {
  console.log(
    (await call("POST", "/v1/messages", "", JSON.stringify({ to, body: { text } }))).answer,
  );
}
for (let since = 0;;) {
  const { status, answer } = await call("GET", "/v1/inbox", `?since_id=${since}&wait=25`);
  if (status !== 200) throw new Error(JSON.stringify(answer));
  for (const { id, from_handle, body } of answer.messages) console.log(id, from_handle, body);
  since = answer.last_id;
  await new Promise((resolve) => setTimeout(resolve, 2000));
}
