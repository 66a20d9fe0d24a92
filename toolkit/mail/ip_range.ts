/** Addresses from the first to the last, as SPF names them (RFC 7208, section 5.6). */
export interface IpRange {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * Reads an address, or a network with the length of its prefix.
 *
 * @param text such as `192.0.2.1`, `192.0.2.0/24`, `2001:db8::1` or `2001:db8::/32`
 * @returns null for anything else
 */
export function parseIpRange(text: string): IpRange | null {
  const match = /^([0-9a-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/i.exec(text);
  if (match === null) return null;
  const address = ipv4(match[1]!) ?? ipv6(match[1]!);
  if (address === null) return null;
  const bits = address.version === 4 ? 32 : 128;
  const prefix = match[2] === undefined ? bits : Number(match[2]);
  if (prefix > bits) return null;
  const size = 1n << BigInt(bits - prefix);
  const first = address.value / size * size;
  return { version: address.version, first, last: first + size - 1n };
}

/** Whether every address of `inner` is one of `outer`. */
export function includesRange(outer: IpRange, inner: IpRange): boolean {
  return outer.version === inner.version && outer.first <= inner.first && inner.last <= outer.last;
}

function ipv4(text: string): { version: 4; value: bigint } | null {
  const parts = text.split(".");
  const isAddress = parts.length === 4 &&
    parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256);
  if (!isAddress) return null;
  return { version: 4, value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n) };
}

/** The URL parser writes every spelling of an address in one way. */
function ipv6(text: string): { version: 6; value: bigint } | null {
  if (!text.includes(":") || !URL.canParse(`http://[${text}]/`)) return null;
  const [head, tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split("::");
  const groups = (part: string | undefined) => part ? part.split(":") : [];
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  const all = [...before, ...zeros, ...after];
  return { version: 6, value: all.reduce((value, part) => value << 16n | BigInt(`0x${part}`), 0n) };
}
