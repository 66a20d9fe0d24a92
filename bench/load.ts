/**
 * A load generator over raw keep-alive connections: fetch() would cost more than what is measured.
 * Requests are bytes made beforehand; answers are read by their Content-Length.
 */

import process from "node:process";
import { quantile } from "./statistics.ts";
import type { Round } from "./row.ts";
import { cpuPerRequest, readThreadCpu } from "./thread_cpu.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The bytes of a request with a body of known length. */
export function httpRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array = new Uint8Array(),
): Uint8Array {
  let head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
  if (body.length > 0 || method === "POST") head += `content-length: ${body.length}\r\n`;
  const encoded = encoder.encode(head + "\r\n");
  const request = new Uint8Array(encoded.length + body.length);
  request.set(encoded);
  request.set(body, encoded.length);
  return request;
}

/** A server under load: where it listens, and the process whose CPU time is read. */
export interface LoadedServer {
  readonly ready: { readonly port: number };
  readonly pid: number;
}

/**
 * Sends all requests over so many connections, each waiting for its answer.
 * @returns answers a second, the times of answers, and what they cost the server and this process
 * @throws Error when an answer has another status
 */
export async function drive(
  server: LoadedServer,
  requests: readonly Uint8Array[],
  { connections, status }: { connections: number; status: number },
): Promise<Round> {
  const { port } = server.ready;
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  const tookMs = new Float64Array(requests.length);
  let next = 0;
  const cpuBefore = readThreadCpu(server.pid);
  const generatorBefore = generatorCpuMs();
  const beganMs = performance.now();
  try {
    await Promise.all(sockets.map(async (socket) => {
      const answers = new AnswerReader(socket);
      while (next < requests.length) {
        const request = next++;
        const sentMs = performance.now();
        await writeAll(socket, requests[request]!);
        const answer = await answers.next();
        tookMs[request] = performance.now() - sentMs;
        if (answer.status !== status) {
          throw new Error(`answered ${answer.status}: ${decoder.decode(answer.body)}`);
        }
      }
    }));
    const elapsedMs = performance.now() - beganMs;
    const generatorMs = generatorCpuMs() - generatorBefore;
    tookMs.sort();
    return {
      value: requests.length / (elapsedMs / 1000),
      p50Ms: quantile(tookMs, 0.5),
      p99Ms: quantile(tookMs, 0.99),
      cpuUs: cpuPerRequest(cpuBefore, readThreadCpu(server.pid), requests.length),
      generatorShare: generatorMs / elapsedMs,
    };
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/** CPU time so far of this process, which makes the load. */
export function generatorCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Sends requests one after the other over one connection for a time, with a pause after each answer.
 * @returns milliseconds that each answer took, ascending
 * @throws Error when an answer has another status
 */
export async function timeEach(
  port: number,
  next: () => Uint8Array,
  { forMs, pauseMs, status }: { forMs: number; pauseMs: number; status: number },
): Promise<number[]> {
  using socket = await Deno.connect({ hostname: "127.0.0.1", port });
  const answers = new AnswerReader(socket);
  const tookMs: number[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const request = next();
    const beganMs = performance.now();
    await writeAll(socket, request);
    const answer = await answers.next();
    tookMs.push(performance.now() - beganMs);
    if (answer.status !== status) {
      throw new Error(`answered ${answer.status}: ${decoder.decode(answer.body)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return tookMs.sort((a, b) => a - b);
}

async function writeAll(socket: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await socket.write(bytes.subarray(sent));
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const LOWER_CASE = 0x20;
const LENGTH_NAME = encoder.encode("content-length:");

/** Reads answers off a connection without making a string of their heads. */
class AnswerReader {
  #buffer = new Uint8Array(64 * 1024);
  #filled = 0;

  constructor(private readonly socket: Deno.Conn) {}

  /** @returns the body as a view that the next answer overwrites */
  async next(): Promise<{ status: number; body: Uint8Array }> {
    let bodyAt: number;
    while ((bodyAt = endOfHead(this.#buffer, this.#filled)) < 0) await this.#fill();
    const status = readNumber(this.#buffer, "HTTP/1.1 ".length);
    const end = bodyAt + contentLength(this.#buffer, bodyAt);
    while (this.#filled < end) await this.#fill();
    // Nobody asks for the next answer before this one is there: nothing follows it.
    if (this.#filled !== end) throw new Error("more came than one answer");
    this.#filled = 0;
    return { status, body: this.#buffer.subarray(bodyAt, end) };
  }

  async #fill(): Promise<void> {
    if (this.#filled === this.#buffer.length) {
      const larger = new Uint8Array(this.#buffer.length * 2);
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    const read = await this.socket.read(this.#buffer.subarray(this.#filled));
    if (read === null) throw new Error("the connection was closed");
    this.#filled += read;
  }
}

/** Where the body begins; -1 while the head is not whole. */
function endOfHead(bytes: Uint8Array, length: number): number {
  for (let at = 0; (at = bytes.indexOf(LINE_FEED, at)) >= 0 && at + 2 < length; at++) {
    if (bytes[at + 1] === CARRIAGE_RETURN && bytes[at + 2] === LINE_FEED) return at + 3;
  }
  return -1;
}

/** What the head says of the body's length; 0 where it says nothing. */
function contentLength(bytes: Uint8Array, bodyAt: number): number {
  for (let at = 0; (at = bytes.indexOf(LINE_FEED, at) + 1) > 0 && at < bodyAt;) {
    let i = 0;
    while (i < LENGTH_NAME.length && (bytes[at + i]! | LOWER_CASE) === LENGTH_NAME[i]) i++;
    if (i === LENGTH_NAME.length) return readNumber(bytes, at + i);
  }
  return 0;
}

function readNumber(bytes: Uint8Array, at: number): number {
  while (bytes[at] === 0x20) at++;
  let value = 0;
  for (let digit; (digit = bytes[at]! - 0x30) >= 0 && digit <= 9; at++) value = value * 10 + digit;
  return value;
}
