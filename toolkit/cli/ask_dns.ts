import {
  decodeAnswer,
  type DnsAnswer,
  encodeQuestion,
  type RecordType,
} from "../mail/dns_message.ts";
import { parseIpRange } from "../mail/ip_range.ts";
import type { DnsServer } from "../node/dns_exchange.ts";
import type { Host } from "./host.ts";
import { UsageError } from "./failure.ts";

const SERVER_MS = 5_000;
const MAX_RECORDS = 100;
const DNS_PORT = 53;
const MAX_SERVERS = 10;

/**
 * Asks DNS servers one after the other until one knows.
 *
 * @param name without a dot at its end
 * @returns ESERVFAIL or ETIMEOUT where no server answers; never throws
 */
export async function askDns(
  host: Host,
  servers: readonly DnsServer[],
  name: string,
  type: RecordType,
): Promise<DnsAnswer> {
  const [high, low] = crypto.getRandomValues(new Uint8Array(2));
  const id = high! << 8 | low!;
  const question = encodeQuestion(id, name, type);
  if (question === null) return { code: "ENOTFOUND" };
  let last: DnsAnswer = { code: "ETIMEOUT" };
  for (const server of servers) {
    try {
      const bytes = await host.askDnsServer(server, question, SERVER_MS);
      const answer = decodeAnswer(bytes, { id, name, type }, MAX_RECORDS);
      last = answer ?? { code: "ESERVFAIL" };
      if (!("code" in last) || !/^E(?:SERVFAIL|REFUSED)$/.test(last.code)) return last;
    } catch {
      last = { code: "ETIMEOUT" };
    }
  }
  return last;
}

/**
 * The DNS servers that an operator names, else those of the system.
 *
 * @param given each `address`, `address:port` or `[address]:port`, several with commas
 * @throws {InputError} for another form, and where the system names none
 */
export function chooseDnsServers(host: Host, given: readonly string[]): readonly DnsServer[] {
  const servers = given.flatMap((text) => text.split(",")).map((text) => parseServer(text.trim()));
  if (servers.length > MAX_SERVERS) throw new UsageError(`at most ${MAX_SERVERS} servers`);
  const chosen = servers.length > 0 ? servers : host.systemDnsServers();
  if (chosen.length > 0) return chosen;
  throw new UsageError("this system names no DNS server: pass --server=ADDRESS");
}

function parseServer(text: string): DnsServer {
  const match =
    /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)|([0-9a-f.]*:[0-9a-f:.]*:[0-9a-f:.]*))(?::([0-9]{1,5}))?$/i
      .exec(text);
  const host = match?.[1] ?? match?.[2] ?? match?.[3];
  const port = match?.[4] === undefined ? DNS_PORT : Number(match[4]);
  const range = host === undefined ? null : parseIpRange(host);
  if (host === undefined || range === null || port < 1 || port > 65535) {
    throw new UsageError(
      `--server takes IP addresses, such as 192.0.2.53, 127.0.0.1:5300 or [2001:db8::53]:53`,
    );
  }
  return { host, port };
}
