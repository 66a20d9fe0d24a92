/**
 * The header by which a proxy says whose connection it passes on: version 2 of haproxy's PROXY protocol
 * (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, section 2.2). Pure.
 */
import { Buffer } from "node:buffer";
import ipaddr from "ipaddr.js";

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const FIXED_BYTES = 16;
/** Of addresses and extensions together: many times what proxies send. */
const MAX_REST = 2_048;

export interface ProxyHeader {
  /** How many bytes it takes. */
  sizeBytes: number;
  /** The client's address; null where the proxy speaks for itself, as to see whether the relay is there. */
  client: string | null;
}

/** @returns "more" where it has not come whole; null for what is no such header of a TCP connection */
export function readProxyHeader(bytes: Uint8Array): ProxyHeader | "more" | null {
  const came = Math.min(bytes.length, SIGNATURE.length);
  if (!SIGNATURE.subarray(0, came).equals(bytes.subarray(0, came))) return null;
  if (bytes.length < FIXED_BYTES) return "more";
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const [command, family, rest] = [header[12]!, header[13]!, header.readUInt16BE(14)];
  if (command >> 4 !== 2 || (command & 15) > 1 || rest > MAX_REST) return null;
  const sizeBytes = FIXED_BYTES + rest;
  if (bytes.length < sizeBytes) return "more";
  if (command === 0x20) return { sizeBytes, client: null };
  // TCP over IPv4 and IPv6: two addresses, then two ports.
  const addressBytes = { 0x11: 4, 0x21: 16 }[family];
  if (addressBytes === undefined || rest < 2 * addressBytes + 4) return null;
  const address = ipaddr.fromByteArray([
    ...header.subarray(FIXED_BYTES, FIXED_BYTES + addressBytes),
  ]);
  return { sizeBytes, client: address.toString() };
}
