import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { isLoopbackAddress, isPublicAddress } from "./public_address.ts";

/** First and last of what is not public inside of it; from the IANA registries, by hand. */
const PRIVATE_IPV4 = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.31.196.0", "192.31.196.255"],
  ["192.52.193.0", "192.52.193.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["192.175.48.0", "192.175.48.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
].map((range) => range.map(ipv4Number) as [bigint, bigint]);

const PRIVATE_IPV6: [bigint, bigint][] = [
  [0n, groups("1fff") | low(112)],
  [groups("2001"), groups("2001", "01ff") | low(96)],
  [groups("2001", "0db8"), groups("2001", "0db8") | low(96)],
  [groups("2002"), groups("2002") | low(112)],
  [groups("2620", "004f", "8000"), groups("2620", "004f", "8000") | low(80)],
  [groups("3fff"), groups("3fff", "0fff") | low(96)],
  [groups("4000"), low(128)],
];

function ipv4Number(address: string): bigint {
  return BigInt(address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0));
}

function groups(...leading: string[]): bigint {
  return BigInt(`0x${leading.join("").padEnd(32, "0")}`);
}

function low(bits: number): bigint {
  return (1n << BigInt(bits)) - 1n;
}

function ipv4Text(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => number >> shift & 255n).join(".");
}

function ipv6Text(number: bigint): string {
  return number.toString(16).padStart(32, "0").match(/.{4}/g)!.join(":");
}

/** Any number, and those at the ends of ranges, where a table goes wrong. */
function addresses(bits: number, ranges: readonly [bigint, bigint][]): fc.Arbitrary<bigint> {
  const ends = ranges.flatMap(([first, last]) => [first - 1n, first, last, last + 1n])
    .filter((number) => number >= 0n && number <= low(bits));
  const within = ranges.map(([min, max]) => fc.bigInt({ min, max }));
  return fc.oneof(
    fc.bigInt({ min: 0n, max: low(bits) }),
    fc.constantFrom(...ends),
    ...within,
    fc.bigInt({ min: 0n, max: low(16) }).map((number) => number << BigInt(bits - 16)),
  );
}

function isOutside(ranges: readonly [bigint, bigint][], number: bigint): boolean {
  return ranges.every(([first, last]) => number < first || number > last);
}

Deno.test("isPublicAddress() agrees with a table of IPv4 that is none of its own", () => {
  let publicOnes = 0;
  fc.assert(
    fc.property(addresses(32, PRIVATE_IPV4), (number) => {
      const expected = isOutside(PRIVATE_IPV4, number);
      publicOnes += expected ? 1 : 0;
      assert.equal(isPublicAddress(ipv4Text(number)), expected, ipv4Text(number));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(publicOnes > 200, String(publicOnes));
});

Deno.test("isPublicAddress() agrees with a table of IPv6 that is none of its own", () => {
  let publicOnes = 0;
  const inGlobal = fc.bigInt({ min: groups("2000"), max: groups("3fff") | low(112) });
  fc.assert(
    fc.property(fc.oneof(addresses(128, PRIVATE_IPV6), inGlobal), (number) => {
      const expected = isOutside(PRIVATE_IPV6, number);
      publicOnes += expected ? 1 : 0;
      assert.equal(isPublicAddress(ipv6Text(number)), expected, ipv6Text(number));
    }),
    { numRuns: 5_000 },
  );
  assert.ok(publicOnes > 200, String(publicOnes));
});

Deno.test("isPublicAddress() takes nothing that is no plain address", () => {
  const none = ["", "localhost", "1", "127.1", "0x7f.1", "0177.0.0.1", "2130706433", "1.1.1.1 "];
  const zoned = ["2606:4700::1111%eth0", "fe80::1%lo", "::1%1"];
  const bracketed = ["[2606:4700::1111]", "8.8.8.8:53", "8.8.8.0/24", "8.8.8.08"];
  for (const text of [...none, ...zoned, ...bracketed]) {
    assert.equal(isPublicAddress(text), false, text);
  }
  for (const text of ["8.8.8.8", "1.0.0.1", "2606:4700::1111", "2a00:1450::200e"]) {
    assert.equal(isPublicAddress(text), true, text);
  }
});

Deno.test("isLoopbackAddress() is 127.0.0.0/8 and ::1, and no form that holds them", () => {
  for (const address of ["127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1"]) {
    assert.equal(isLoopbackAddress(address), true, address);
  }
  const others = ["128.0.0.1", "126.9.9.9", "0.0.0.0", "::", "::ffff:127.0.0.1", "::127.0.0.1"];
  for (const address of [...others, "64:ff9b::7f00:1", "::1%lo", "127.1", "localhost", ""]) {
    assert.equal(isLoopbackAddress(address), false, address);
  }
});
