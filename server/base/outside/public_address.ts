/** Which addresses are of the public internet, so that a stranger may have the relay connect there. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Blocks inside of global unicast space that are not: ipaddr.js does not have all of them. Azure serves a
 * machine's own metadata at 168.63.129.16, which is public by its number alone.
 * Source: the IANA special-purpose address registries (RFC 6890).
 */
const SPECIAL_IPV4 = ["192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "168.63.129.16/32"]
  .map((block) => ipaddr.IPv4.parseCIDR(block));
/** The first one holds Teredo, benchmarking and ORCHID; then documentation, 6to4, documentation. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
  .map((block) => ipaddr.IPv6.parseCIDR(block));
/** Everything else, as addresses that hold an IPv4 address (mapped, NAT64), is none of the internet's. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * True for an address that the public internet routes to one machine: in doubt it is not.
 * @param address as node:net gives it: dotted, or IPv6 without brackets; with a zone it is never public
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) {
    const parsed = ipaddr.IPv4.parse(address);
    return parsed.range() === "unicast" && !SPECIAL_IPV4.some((block) => parsed.match(block));
  }
  if (isIP(address) !== 6 || address.includes("%")) return false;
  const parsed = ipaddr.IPv6.parse(address);
  return parsed.match(GLOBAL_IPV6) && parsed.range() === "unicast" &&
    !SPECIAL_IPV6.some((block) => parsed.match(block));
}

/** True for 127.0.0.0/8 and ::1, in any spelling of node:net; not for an IPv6 form that holds the former. */
export function isLoopbackAddress(address: string): boolean {
  if (isIP(address) === 4) return address.startsWith("127.");
  return isIP(address) === 6 && !address.includes("%") &&
    ipaddr.IPv6.parse(address).range() === "loopback";
}
