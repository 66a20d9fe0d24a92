/**
 * The load of a Nostr relay: events signed beforehand, each connection waiting for its OK. A line
 * `{"connections":N,"events":N}` in, a line with rate and times out. Run by Node.js.
 */
import { createHash, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { createInterface } from "node:readline";

const [packages, port] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const WebSocket = require("ws");
const { schnorr } = require("@noble/curves/secp256k1");

const AUTHORS = 200;
const authors = Array.from({ length: AUTHORS }, () => {
  const key = randomBytes(32);
  return { key, pubkey: Buffer.from(schnorr.getPublicKey(key)).toString("hex") };
});
let sequence = 0;

/** A text note (NIP-01) of 200 characters, as the message that publishes it. */
function signedEvent() {
  const { key, pubkey } = authors[sequence % AUTHORS];
  const created_at = Math.floor(Date.now() / 1000);
  const content = String(++sequence).padEnd(200, "x");
  const signed = JSON.stringify([0, pubkey, created_at, 1, [], content]);
  const id = createHash("sha256").update(signed).digest();
  const sig = Buffer.from(schnorr.sign(id, key)).toString("hex");
  const event = { id: id.toString("hex"), pubkey, created_at, kind: 1, tags: [], content, sig };
  return JSON.stringify(["EVENT", event]);
}

function connect() {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

function publish(socket, message) {
  return new Promise((resolve, reject) => {
    socket.once("message", (data) => {
      const [kind, , accepted, why] = JSON.parse(data);
      if (kind === "OK" && accepted === true) resolve();
      else reject(new Error(`not accepted: ${data} ${why ?? ""}`));
    });
    socket.send(message);
  });
}

async function round({ connections, events }) {
  const messages = Array.from({ length: events }, signedEvent);
  const sockets = await Promise.all(Array.from({ length: connections }, connect));
  const tookMs = [];
  let next = 0;
  const cpu = process.cpuUsage();
  const beganMs = performance.now();
  await Promise.all(sockets.map(async (socket) => {
    while (next < messages.length) {
      const message = messages[next++];
      const sentMs = performance.now();
      await publish(socket, message);
      tookMs.push(performance.now() - sentMs);
    }
  }));
  const elapsedMs = performance.now() - beganMs;
  const { user, system } = process.cpuUsage(cpu);
  for (const socket of sockets) socket.close();
  return {
    rate: events / elapsedMs * 1000,
    tookMs,
    generatorShare: (user + system) / 1000 / elapsedMs,
  };
}

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await round(JSON.parse(line))));
}
