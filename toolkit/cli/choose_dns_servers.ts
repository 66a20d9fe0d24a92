import type { DnsServer } from "../mail/ask_dns.ts";
import { parseIpRange } from "../mail/ip_range.ts";
import { UsageError } from "./failure.ts";
import type { Host } from "./host.ts";

const DNS_PORT = 53;
const MAX_SERVERS = 10;

/**
 * The DNS servers that an operator names, else the system's.
 *
 * @param given each `address`, `address:port` or `[address]:port`, behind `tcp:` for TCP alone, several with commas
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
    /^(tcp:)?(?:\[([0-9a-f:.]+)\]|([0-9.]+)|([0-9a-f.]*:[0-9a-f:.]*:[0-9a-f:.]*))(?::([0-9]{1,5}))?$/i
      .exec(text);
  const host = match?.[2] ?? match?.[3] ?? match?.[4];
  const port = match?.[5] === undefined ? DNS_PORT : Number(match[5]);
  const range = host === undefined ? null : parseIpRange(host);
  if (host === undefined || range === null || port < 1 || port > 65535) {
    throw new UsageError(
      `--server takes IP addresses, such as 192.0.2.53, 127.0.0.1:5300, [2001:db8::53]:53 or tcp:192.0.2.53`,
    );
  }
  return { host, port, ...(match![1] === undefined ? {} : { tcp: true }) };
}
