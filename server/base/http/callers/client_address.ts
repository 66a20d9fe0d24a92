/** Whose address a per-address limit counts (docs/operations.md, "Behind a proxy"). */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base64urlnopad } from "@scure/base";
import type { Context } from "hono";
import ipaddr from "ipaddr.js";
import { BoundedMap } from "../../bounds/bounded_map.ts";
import type { HttpEnv } from "../routes/route.ts";

/** Four decimal numbers up to 255 without leading zeros. */
const DOTTED = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?=[0-9])|$)){4}$/;
/** Addresses whose hashes are kept. */
const REMEMBERED_HASHES = 1_000;
const IPV6_PREFIX_GROUPS = 4;

/**
 * The address to count: an IPv4 address in dotted form, or the /64 of an IPv6 address.
 * @param forwardedFor X-Forwarded-For, all header lines joined by commas
 * @param socketAddress address of the socket's peer
 * @param trustedHops proxies in front; 0 ignores forwardedFor
 * @returns "unknown" when even the socket's address is none
 */
export function clientAddress(
  forwardedFor: string | null,
  socketAddress: string | undefined,
  trustedHops: number,
): string {
  if (trustedHops > 0 && forwardedFor !== null) {
    const entries = forwardedFor.split(",");
    // Too few entries give index -1 or less, which is no entry.
    const counted = countedAddress(entries[entries.length - trustedHops]?.trim());
    if (counted !== undefined) return counted;
  }
  return countedAddress(socketAddress) ?? "unknown";
}

/** The address that a request came from, as clientAddress() counts it. */
export function callerAddress(c: Context<HttpEnv>, trustedHops: number): string {
  const forwardedFor = c.req.raw.headers.get("x-forwarded-for");
  return clientAddress(forwardedFor, c.env?.remoteAddress, trustedHops);
}

/** The addresses of clients as limits count them, and what stands in the store for them. */
export class ClientAddresses {
  /** Every send asks for the hash of its own, and a client sends again. */
  readonly #hashesOfLate = new BoundedMap<string, string>(REMEMBERED_HASHES);

  /**
   * @param key secret bytes, 32
   * @param trustedHops proxies in front
   */
  constructor(private readonly key: Uint8Array, private readonly trustedHops: number) {}

  /** The address that a request came from. */
  addressOf(c: Context<HttpEnv>): string {
    return callerAddress(c, this.trustedHops);
  }

  /** The hash of the address that a request came from. */
  hashOf(c: Context<HttpEnv>): string {
    return this.hash(this.addressOf(c));
  }

  /**
   * What stands in the store for an address: its HMAC-SHA-256 under the relay's own key.
   * @param address as addressOf() gives it, or another text that is counted
   * @returns the first 16 bytes, base64url without padding
   */
  hash(address: string): string {
    const known = this.#hashesOfLate.get(address);
    if (known !== undefined) return known;
    const mac = hmac(sha256, this.key, new TextEncoder().encode(address));
    const made = base64urlnopad.encode(mac.subarray(0, 16));
    this.#hashesOfLate.set(address, made);
    return made;
  }
}

/**
 * An address as limits count it: IPv4 as it is, IPv6 by its first 64 bits.
 * @returns undefined for what is no address
 */
export function countedAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // Most are such, and reading one takes the library five expressions and an object.
  if (DOTTED.test(text)) return text;
  // ipaddr.js also reads octal, hexadecimal and shortened IPv4 forms: not in a header.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!ipaddr.IPv6.isValid(text)) return undefined;
  const address = ipaddr.IPv6.parse(text);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  const prefix = address.parts.slice(0, IPV6_PREFIX_GROUPS).map((part) => part.toString(16));
  return `${prefix.join(":")}::/64`;
}
