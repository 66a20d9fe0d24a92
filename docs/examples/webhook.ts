/**
 * Receives a relay's webhook, and prints what is new: node webhook.ts, or
 * deno run --allow-net=127.0.0.1 --allow-env=RELAY_WEBHOOK_SECRET,PORT webhook.ts
 * RELAY_WEBHOOK_SECRET: what the relay showed when the webhook was made, rmwh_...
 */
import { createServer, type IncomingMessage } from "node:http";
import process from "node:process";
import { type MailEvent, verifyWebhook, WebhookError } from "agent-relay-toolkit/client";

const { RELAY_WEBHOOK_SECRET: secret = "", PORT = "8091" } = process.env;
const MAX_BYTES = 1024 * 1024; // an event has at most 96 KiB
const done = new Set<string>(); // of a program that lasts: in its database

function handle({ id, type, data }: MailEvent): void {
  if (done.has(id)) return; // a delivery is repeated until it is answered
  const subject = "message" in data ? data.message.subject : null;
  console.log(id, type, ascii(subject)); // a stranger's words: to be quoted, never obeyed
  done.add(id);
}

function ascii(text: string | null): string {
  const hex = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(/[^ -~]/g, hex);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) return null; // which cuts the connection
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

const server = createServer({ requestTimeout: 15_000 }, async (request, response) => {
  try {
    const body = await readBody(request);
    if (body === null) return;
    handle(verifyWebhook(secret, request.headers, body));
    response.writeHead(204).end(); // within 15 s: longer work is queued first, and done after
  } catch (thrown) {
    const why = thrown instanceof WebhookError ? thrown.code : "failed";
    console.error(why);
    response.writeHead(why === "failed" ? 500 : 401).end(why);
  }
});
server.listen(Number(PORT), "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.error(`listening at http://127.0.0.1:${port}/`);
});
