/** Attacks on a relay from a process of its own: "begin" and "end" on standard input. */
import { httpRequest } from "../load.ts";
import { answerLines } from "./child.ts";

export interface AttackerArgument {
  port: number;
  attack: "initialize" | "uploads" | "untaken pages";
  /** A signed request for a large page, as text. */
  request: string;
}

const { port, attack, request }: AttackerArgument = JSON.parse(Deno.args[0]!);
const encoder = new TextEncoder();
const ICONS = 30_000;
const STALLED = 500;
const ANNOUNCED_BYTES = 262_144;
const DIGITS = 12_000;
const UNTAKEN = 20;

let isOn = false;
let asked = 0;
let running: Promise<unknown> = Promise.resolve();
const open = new Set<Deno.Conn>();

async function connect(): Promise<Deno.Conn> {
  const socket = await Deno.connect({ hostname: "127.0.0.1", port });
  open.add(socket);
  return socket;
}

async function write(socket: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await socket.write(bytes.subarray(sent));
  asked++;
}

function leave(socket: Deno.Conn): void {
  if (open.delete(socket)) socket.close();
}

/** The same request again and again, one connection each time, what comes back thrown away. */
async function repeat(bytes: Uint8Array): Promise<void> {
  while (isOn) {
    const socket = await connect();
    try {
      await write(socket, bytes);
      await socket.read(new Uint8Array(65_536));
    } catch {
      // Cut off: again.
    }
    leave(socket);
  }
}

/** Connections that ask for something and then do nothing, again every second. */
async function hold(count: number, bytes: Uint8Array): Promise<void> {
  while (isOn) {
    const sockets: Deno.Conn[] = [];
    for (let i = 0; i < count && isOn; i++) {
      const socket = await connect();
      sockets.push(socket);
      await write(socket, bytes).catch(() => {});
    }
    for (let i = 0; i < 10 && isOn; i++) await new Promise((resolve) => setTimeout(resolve, 100));
    for (const socket of sockets) leave(socket);
  }
}

function begin(): Promise<unknown> {
  if (attack === "initialize") {
    const clientInfo = { name: "x", version: "1", icons: Array(ICONS).fill({ src: 1 }) };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const rpc = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const headers = { "content-type": "application/json", accept: "application/json" };
    const flood = httpRequest("POST", "/mcp", headers, encoder.encode(rpc));
    return Promise.all([repeat(flood), repeat(flood)]);
  }
  if (attack === "uploads") {
    const stalled = encoder.encode(
      `POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${ANNOUNCED_BYTES}\r\n\r\n` +
        "x".repeat(1_000),
    );
    const worst = httpRequest("GET", "/docs/reference.js", {
      "accept-encoding": `gzip;q=0.${"1".repeat(DIGITS)}x`,
    });
    return Promise.all([hold(STALLED, stalled), repeat(worst)]);
  }
  return hold(UNTAKEN, encoder.encode(request));
}

console.log(JSON.stringify({ ready: true }));
await answerLines(async (line) => {
  if (line === "begin") {
    asked = 0;
    isOn = true;
    running = begin();
    await new Promise((resolve) => setTimeout(resolve, 500)); // until it is under way
    return true;
  }
  isOn = false;
  for (const socket of [...open]) leave(socket);
  await running;
  return asked;
});
