/** Asks DNS servers, over TCP (RFC 7766): no answer can be forged from beside the path. */
import {
  decodeAnswer,
  type DnsAnswer,
  encodeQuestion,
  type RecordType,
} from "../../../../toolkit/mail/dns_message.ts";

/** Where a DNS server listens; an IP address. */
export interface DnsServer {
  host: string;
  port: number;
}

/** Asks for the records of a name. Never throws; what takes too long is ETIMEOUT. */
export type AskDns = (
  name: string,
  type: RecordType,
  signal: AbortSignal,
) => Promise<DnsAnswer>;

export interface DnsClientOptions {
  servers: readonly DnsServer[];
  /** Told of a server that does not answer. */
  onFailure: (failure: unknown) => void;
  random?: (sizeBytes: number) => Uint8Array;
}

/** How long one server may take before the next one is asked. */
const SERVER_MS = 2_000;
/** Of a question: RFC 7208 allows ten hosts of a kind, and few names have more texts. */
const MAX_RECORDS = 100;

/** Asks the servers one after the other until one answers; the answer of a server is not questioned. */
export function createDnsClient({ servers, onFailure, random }: DnsClientOptions): AskDns {
  const randomBytes = random ?? ((size) => crypto.getRandomValues(new Uint8Array(size)));
  return async (name, type, signal) => {
    const [high, low] = randomBytes(2);
    const id = high! << 8 | low!;
    const question = encodeQuestion(id, name, type);
    if (question === null) return { code: "ENOTFOUND" };
    let last: DnsAnswer = { code: "ESERVFAIL" };
    for (const server of servers) {
      if (signal.aborted) return { code: "ETIMEOUT" };
      try {
        const bytes = await exchange(server, question, signal);
        const answer = decodeAnswer(bytes, { id, name, type }, MAX_RECORDS);
        if (answer === null) throw new Error("a DNS server gave what is no answer");
        if (!("code" in answer) || !/^E(?:SERVFAIL|REFUSED)$/.test(answer.code)) return answer;
        last = answer;
      } catch (error) {
        last = { code: isLate(error) ? "ETIMEOUT" : "ESERVFAIL" };
        if (!signal.aborted) onFailure(error);
      }
    }
    return last;
  };
}

class LateError extends Error {
  constructor() {
    super("a DNS server did not answer in time");
  }
}

function isLate(error: unknown): boolean {
  return error instanceof LateError;
}

/** One question and its answer over a connection of its own. */
async function exchange(
  { host, port }: DnsServer,
  question: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let connection: Deno.TcpConn | undefined;
  let hasEnded = false;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => {
    hasEnded = true;
    reject(new LateError());
    close(connection);
  };
  ended.catch(() => {});
  const timer = setTimeout(end, SERVER_MS);
  signal.addEventListener("abort", end, { once: true });
  const work = async () => {
    connection = await Deno.connect({ hostname: host, port });
    if (hasEnded) throw new LateError();
    await writeAll(connection, withLength(question));
    const [high, low] = await readExactly(connection, 2);
    return await readExactly(connection, high! << 8 | low!);
  };
  const working = work();
  // A connection that comes too late is closed by nobody else.
  working.catch(() => {}).finally(() => close(connection));
  try {
    return await Promise.race([working, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

function withLength(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  framed.set([message.length >> 8, message.length & 0xff]);
  framed.set(message, 2);
  return framed;
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function readExactly(connection: Deno.TcpConn, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes);
  for (let read = 0; read < sizeBytes;) {
    const more = await connection.read(bytes.subarray(read));
    if (more === null) throw new Error("a DNS server closed the connection");
    read += more;
  }
  return bytes;
}

function close(connection: Deno.TcpConn | undefined): void {
  try {
    connection?.close();
  } catch {
    // It is closed.
  }
}
