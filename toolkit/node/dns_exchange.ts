import { getServers } from "node:dns";
import { readFileSync } from "node:fs";
import { connect, isIP } from "node:net";
import { RESOLV_CONF, systemNameservers } from "../mail/resolv_conf.ts";

/** Where a DNS server listens. */
export interface DnsServer {
  /** An IP address. */
  readonly host: string;
  readonly port: number;
}

/** What of a platform asks DNS. */
export interface DnsNetwork {
  /** The servers of the system, at most three; none where it does not tell. */
  systemDnsServers(): readonly DnsServer[];
  /**
   * Sends one question over a TCP connection of its own (RFC 7766).
   *
   * @param question a DNS message, at most 65,535 bytes
   * @returns the answer's bytes
   * @throws Error where none came within the time
   */
  askDnsServer(server: DnsServer, question: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
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

function askDnsServer(
  { host, port }: DnsServer,
  question: Uint8Array,
  timeoutMs: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let taken: Uint8Array = new Uint8Array();
    const socket = connect({ host, port });
    const timer = setTimeout(() => fail("did not answer in time"), timeoutMs);
    function end() {
      clearTimeout(timer);
      socket.destroy();
    }
    function fail(why: string) {
      end();
      reject(new Error(`the DNS server ${why}`));
    }
    socket.on("error", () => fail("cannot be reached"));
    socket.on("close", () => fail("closed the connection"));
    socket.on("connect", () => {
      socket.write(Uint8Array.from([question.length >> 8, question.length & 0xff, ...question]));
    });
    socket.on("data", (chunk: Uint8Array) => {
      taken = Uint8Array.from([...taken, ...chunk]);
      const sizeBytes = taken.length < 2 ? Infinity : taken[0]! << 8 | taken[1]!;
      if (taken.length < sizeBytes + 2) return;
      end();
      resolve(taken.subarray(2, sizeBytes + 2));
    });
  });
}
