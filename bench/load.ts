/**
 * A load generator over raw keep-alive connections: fetch() would cost more than what is measured.
 * Requests are bytes made beforehand; answers are read by their Content-Length.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const HEADER_END = encoder.encode("\r\n\r\n");

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

/**
 * Sends all requests over this many connections, each waiting for its answer.
 * @returns answers a second
 * @throws Error when an answer has another status
 */
export async function drive(
  port: number,
  requests: readonly Uint8Array[],
  { connections, status }: { connections: number; status: number },
): Promise<number> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  let next = 0;
  const beganMs = performance.now();
  try {
    await Promise.all(sockets.map(async (socket) => {
      const answers = new AnswerReader(socket);
      while (next < requests.length) {
        await writeAll(socket, requests[next++]!);
        const answer = await answers.next();
        if (answer.status !== status) {
          throw new Error(`answered ${answer.status}: ${decoder.decode(answer.body)}`);
        }
      }
    }));
    return requests.length / ((performance.now() - beganMs) / 1000);
  } finally {
    for (const socket of sockets) socket.close();
  }
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

class AnswerReader {
  #buffer = new Uint8Array(64 * 1024);
  #filled = 0;

  constructor(private readonly socket: Deno.Conn) {}

  async next(): Promise<{ status: number; body: Uint8Array }> {
    let headEnd = -1;
    while ((headEnd = indexOf(this.#buffer.subarray(0, this.#filled), HEADER_END)) < 0) {
      await this.#fill();
    }
    const head = decoder.decode(this.#buffer.subarray(0, headEnd));
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const end = headEnd + HEADER_END.length + length;
    while (this.#filled < end) await this.#fill();
    const body = this.#buffer.slice(headEnd + HEADER_END.length, end);
    this.#buffer.copyWithin(0, end, this.#filled);
    this.#filled -= end;
    return { status: Number(head.slice(9, 12)), body };
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

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0]!); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (at + wanted.length > bytes.length) return -1;
    if (wanted.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}
