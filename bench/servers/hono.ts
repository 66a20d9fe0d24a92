/**
 * The references over HTTP: a Hono route with a fixed answer, and one that makes one native
 * verification.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { Buffer } from "node:buffer";
import { Hono } from "hono";
import { answerLines } from "./child.ts";

const { publicKey }: { publicKey?: string } = JSON.parse(Deno.args[0]!);
const key = publicKey === undefined
  ? undefined
  : createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
const emptyHash = createHash("sha256").update("").digest("hex");

const app = new Hono();
app.get("/hello", (c) => c.json({ messages: [], last_id: 0 }));
app.get("/verify", (c) => {
  const timestamp = c.req.header("x-relay-timestamp");
  const signature = Buffer.from(c.req.header("x-relay-signature")!, "base64");
  const text = Buffer.from(`relay:v1:GET:/v1/inbox:${emptyHash}:${timestamp}`);
  if (!verify(null, text, key!, signature)) return c.json({}, 401);
  return c.json({ messages: [], last_id: 0 });
});
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
console.log(JSON.stringify({ port: server.addr.port }));
await answerLines(() => null);
await server.shutdown();
