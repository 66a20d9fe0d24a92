/** Where Unix names its DNS servers; it needs a right to read of its own. */
export const RESOLV_CONF = "/etc/resolv.conf";

const MAX_SERVERS = 3;
const IPV4 = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const IPV6 = /^[0-9a-f:.]*:[0-9a-f:.]*$/i;

/**
 * IP addresses of the DNS servers in such a file, at most three as in resolv.conf(5). Those with a
 * zone (`fe80::1%eth0`) are left out, since no permission can name one.
 */
export function systemNameservers(text: string): string[] {
  const named = text.split("\n").map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1]);
  return named.filter((host) => host !== undefined && (IPV4.test(host) || IPV6.test(host)))
    .slice(0, MAX_SERVERS) as string[];
}
