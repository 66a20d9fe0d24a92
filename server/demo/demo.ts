/**
 * `deno task demo`: two agents register, converse and verify each other offline; then one of them gets
 * an e-mail inbox, and mail goes both ways. The relay is the demo's own, with a temporary store, in local
 * mode: no mail leaves the machine. Everything goes over real HTTP; exit code 0 means every step held.
 */
import { KvBackend } from "../base/storage/deno_kv/kv_backend.ts";
import assert from "node:assert/strict";
import {
  canonicalJson,
  generateKeyPair,
  type InboxMessage,
  type JsonObject,
  type JsonValue,
  type KeyPair,
  overall,
  signRequest,
  verifyMessage,
} from "../../toolkit/mod.ts";
import { parseConfig } from "../base/config/config.ts";
import { exchangeMail, prepareMailDemo } from "./demo_mail.ts";
import { show, step } from "./demo_step.ts";
import type { Deps } from "../base/parts/deps.ts";
import { openRelay, type Relay } from "../relay.ts";
import { serve } from "../process/serve.ts";

interface DemoAgent {
  handle: string;
  keys: KeyPair;
}

interface Sent {
  id: number;
  created_at: string;
}

const encoder = new TextEncoder();
let baseUrl = "";
/** A signature counts once: each request takes the smallest second that was not used. */
let lastSecond = 0;

/** Sends a signed request and returns its JSON. @throws AssertionError for another status */
async function call<T>(
  agent: DemoAgent,
  method: "GET" | "POST",
  path: string,
  status: number,
  value?: JsonValue,
): Promise<T> {
  const body = value === undefined ? new Uint8Array() : encoder.encode(canonicalJson(value));
  const second = Math.floor(Date.now() / 1000);
  lastSecond = method === "POST" ? Math.max(second, lastSecond + 1) : second;
  const request = { method, path, body, timestamp: method === "POST" ? lastSecond : second };
  const { headers } = signRequest(request, agent.keys.privateKey);
  const answer = await fetch(baseUrl + path, {
    method,
    headers,
    body: method === "POST" ? body : null,
  });
  const text = await answer.text();
  assert.equal(answer.status, status, `${method} ${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

async function register(handle: string): Promise<DemoAgent> {
  const agent = { handle, keys: generateKeyPair() };
  const registered = await call<{ word_name: string }>(agent, "POST", "/v1/register", 201, {
    handle,
    pubkey: agent.keys.address,
  });
  show(`@${handle}, also known as ${registered.word_name}, also ${agent.keys.address}`);
  return agent;
}

async function send(from: DemoAgent, to: DemoAgent, message: JsonObject): Promise<Sent> {
  const request = { to: to.keys.address, ...message };
  const sent = await call<Sent>(from, "POST", "/v1/messages", 201, request);
  show(`@${from.handle} -> @${to.handle}: ${canonicalJson(request)}`);
  show(`stored as message ${sent.id}`);
  return sent;
}

async function receive(agent: DemoAgent, from: DemoAgent): Promise<InboxMessage[]> {
  const page = await call<{ messages: InboxMessage[] }>(agent, "GET", "/v1/inbox", 200);
  for (const message of page.messages) {
    const report = await verifyMessage(message, {
      recipient: { address: agent.keys.address },
      from: from.keys.address,
    });
    assert.equal(overall(report), "proven");
    assert.equal(report.addressee, "key");
    show(`@${agent.handle} got message ${message.id}: ${JSON.stringify(message.body)}`);
    show(
      `  signature ${report.signature}, sender ${report.sender}, hash ${report.contentHash}, ` +
        `body ${report.body} to the signature, addressed by ${report.addressee}`,
    );
  }
  return page.messages;
}

/** @returns the key of one of the agents */
async function converse(): Promise<KeyPair> {
  step("Two agents make their keys and register; no human has to do anything");
  const alice = await register("demo_alice");
  const bob = await register("demo_bob");

  step("Alice sends a text and a JSON document, each signed with her own key");
  const text = await send(alice, bob, { body: { subject: "Hello", text: "Are you there, Bob?" } });
  const document = { task: "add", numbers: [1, 2.5, 3] };
  await send(alice, bob, { body: canonicalJson(document), content_type: "json" });

  step("Bob polls his inbox and verifies both offline: no question to the relay is needed");
  const received = await receive(bob, alice);
  assert.equal(received.length, 2);
  assert.deepEqual(received[1]!.body, document);

  step("Bob replies, and Alice verifies the reply");
  await send(bob, alice, { body: { text: "I am. The sum is 6.5." }, in_reply_to: text.id });
  const [reply] = await receive(alice, bob);
  assert.equal(reply!.in_reply_to, text.id);

  step("Alice's outbox shows that her messages were delivered");
  const outbox = await call<{ messages: { id: number; delivered_at: string | null }[] }>(
    alice,
    "GET",
    "/v1/outbox",
    200,
  );
  for (const { id, delivered_at } of outbox.messages) {
    show(`message ${id} delivered at ${delivered_at}`);
    assert.notEqual(delivered_at, null);
  }

  step("A copy of the reply is altered in one character");
  const original = (reply!.body as { text: string }).text;
  const altered = { ...reply!, body: { text: original.replace("6.5", "6.6") } };
  const report = await verifyMessage(altered, { recipient: { address: alice.keys.address } });
  assert.equal(overall(report), "false");
  show(`"${original}" became "${altered.body.text}"`);
  show(`  hash ${report.contentHash}, body ${report.body}: the copy is not what Bob signed`);
  assert.equal(report.contentHash, "mismatch");
  assert.equal(report.body, "unbound");
  return alice.keys;
}

const folder = await Deno.makeTempDir({ prefix: "relay-demo-" });
const kv = await Deno.openKv(`${folder}/relay.kv`);
const log: Deps["log"] = (event, fields) => console.error(event, fields);
const mail = prepareMailDemo();
let relay: Relay | undefined;
// The socket comes first, since the links in mails name its port.
const serving = serve({
  app: {
    fetch: (request, bindings) =>
      relay?.app.fetch(request, bindings) ?? new Response("not open yet", { status: 503 }),
  },
  endWaits: () => relay?.endWaits(),
  idle: async () => await relay?.idle(),
  close: async () => await relay?.close(),
}, { host: "127.0.0.1", port: 0, log });
baseUrl = `http://127.0.0.1:${serving.port}`;
console.log(`A relay of this demo's own listens on ${baseUrl}; its store is temporary`);
try {
  relay = await openRelay({
    config: parseConfig({
      ...mail.settings,
      PORT: String(serving.port),
      RELAY_DATA_DIR: folder,
    }),
    backend: new KvBackend(kv),
    now: Date.now,
    elapsed: () => performance.now(),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    fetch,
    log,
  });
  const keys = await converse();
  await exchangeMail(baseUrl, keys, mail);
  console.log("\nEvery step held. Next: deno task mail, and the tour in README.md");
} finally {
  await serving.stop();
  kv.close();
  await Deno.remove(folder, { recursive: true });
}
