import { getServers } from "node:dns";
import { readFileSync } from "node:fs";
import { connect, isIP } from "node:net";
import type { DnsServer } from "../mail/ask_dns.ts";
import { RESOLV_CONF, systemNameservers } from "../mail/resolv_conf.ts";
import { askByUdp, mayAskByUdp } from "./dns_over_udp.ts";

/** What of a platform asks DNS. */
export interface DnsNetwork {
  /** The servers of the system, at most three; none where it does not tell. */
  systemDnsServers(): readonly DnsServer[];
  askDnsServer: typeof askDnsServer;
}

const DNS_PORT = 53;
const MAX_SERVERS = 3;

/** DNS by node:* modules, which Deno, Node.js and Bun all have. */
export const nodeDns: DnsNetwork = {
  systemDnsServers() {
    const hosts = new Set(serversOfFile() ?? serversOfRuntime());
    return [...hosts].slice(0, MAX_SERVERS).map((host) => ({ host, port: DNS_PORT }));
  },
  askDnsServer,
};

function serversOfFile(): string[] | null {
  try {
    const hosts = systemNameservers(readFileSync(RESOLV_CONF, "utf8"));
    return hosts.length > 0 ? hosts : null;
  } catch {
    return null;
  }
}

/** Where there is no such file; Deno asks for a further permission there. */
function serversOfRuntime(): string[] {
  try {
    return getServers().filter((host) => isIP(host) !== 0);
  } catch {
    return [];
  }
}

/** No answer came in time, or the caller gave up. */
export class LateError extends Error {
  override readonly name = "LateError";
}

/** How long a server may leave UDP unanswered, at most half of its time. */
const UDP_MS = 1_000;
/** A server that has answered over TCP alone is asked so many questions without trying UDP. */
const TCP_QUESTIONS = 100;
const leftForTcp = new WeakMap<DnsServer, number>();

/**
 * Asks a server one question: over UDP, and over TCP where no answer came that is whole and beyond doubt
 * (RFC 1123, section 6.1.3.2), or where the server is asked that way alone.
 *
 * @param question a DNS message of one question, at most 65,535 bytes
 * @param signal ends it early
 * @returns the answer's bytes
 * @throws {LateError} where none came within the time
 * @throws Error where the server cannot be reached, or closes the connection
 */
async function askDnsServer(
  server: DnsServer,
  question: Uint8Array,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const beganMs = performance.now();
  const left = leftForTcp.get(server) ?? 0;
  const byTcp = server.tcp === true || left > 0 || !mayAskByUdp();
  const udpMs = Math.min(UDP_MS, timeoutMs / 2);
  const came = byTcp ? null : await askByUdp(server, question, udpMs, signal);
  if (came !== null && typeof came === "object") return came;
  const restMs = Math.max(0, timeoutMs - (performance.now() - beganMs));
  try {
    const answer = await askByTcp(server, question, restMs, signal);
    leftForTcp.set(server, came === "silent" ? TCP_QUESTIONS : left - 1);
    return answer;
  } catch (error) {
    leftForTcp.delete(server);
    throw error;
  }
}

/**
 * Sends one question over a TCP connection of its own (RFC 7766): no answer can be forged from beside the path.
 * @throws as askDnsServer()
 */
function askByTcp(
  { host, port }: DnsServer,
  question: Uint8Array,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const late = () => fail(new LateError("a DNS server did not answer in time"));
    if (signal?.aborted) return reject(new LateError("nobody waits for the DNS server"));
    const socket = connect({ host, port });
    const timer = setTimeout(late, timeoutMs);
    signal?.addEventListener("abort", late, { once: true });
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", late);
      socket.destroy();
    }
    function fail(error: Error) {
      end();
      reject(error);
    }
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("a DNS server closed the connection")));
    socket.on("connect", () => {
      socket.write(Uint8Array.from([question.length >> 8, question.length & 0xff, ...question]));
    });
    let high: number | undefined;
    let answer: Uint8Array | undefined;
    let cameBytes = 0;
    socket.on("data", (chunk: Uint8Array) => {
      let at = 0;
      while (answer === undefined && at < chunk.length) {
        const byte = chunk[at++]!;
        if (high === undefined) high = byte;
        else answer = new Uint8Array(high << 8 | byte);
      }
      if (answer === undefined) return;
      const piece = chunk.subarray(at, at + answer.length - cameBytes);
      answer.set(piece, cameBytes);
      cameBytes += piece.length;
      if (cameBytes < answer.length) return;
      end();
      resolve(answer);
    });
  });
}
