import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { clientAddress, ClientAddresses } from "./client_address.ts";

Deno.test("clientAddress() is the socket's while no proxy is trusted", () => {
  assert.equal(clientAddress("9.9.9.9", "192.0.2.1", 0), "192.0.2.1");
  assert.equal(clientAddress(null, "192.0.2.1", 0), "192.0.2.1");
  assert.equal(clientAddress(null, undefined, 0), "unknown");
});

Deno.test("clientAddress() takes the entry that the outermost trusted proxy appended", () => {
  const forwarded = "1.1.1.1, 2.2.2.2,3.3.3.3";
  assert.equal(clientAddress(forwarded, "192.0.2.1", 1), "3.3.3.3");
  assert.equal(clientAddress(forwarded, "192.0.2.1", 2), "2.2.2.2");
  assert.equal(clientAddress(forwarded, "192.0.2.1", 3), "1.1.1.1");
});

Deno.test("clientAddress() falls back to the socket when entries are missing or no address", () => {
  assert.equal(clientAddress("1.1.1.1", "192.0.2.1", 2), "192.0.2.1");
  assert.equal(clientAddress(null, "192.0.2.1", 1), "192.0.2.1");
  for (
    const entry of [
      "",
      "unknown",
      "1.2.3",
      "0x7f.1",
      "1.2.3.4:80",
      "[::1]",
      "01.2.3.4",
      "1.2.3.256",
      "1.2.3.",
      "1.2.3.4.",
      "1.2.3.4.5",
      "1..3.4",
      "1.2.3.00",
      "1.2.3.-4",
    ]
  ) assert.equal(clientAddress(`9.9.9.9, ${entry}`, "192.0.2.1", 1), "192.0.2.1", entry);
});

Deno.test("clientAddress() takes every IPv4 address in four decimal parts as it is", () => {
  for (let part = 0; part < 256; part++) {
    for (const address of [`${part}.0.255.10`, `1.${part}.2.3`, `192.0.2.${part}`]) {
      assert.equal(clientAddress(null, address, 0), address);
    }
  }
});

Deno.test("clientAddress() counts mapped IPv4 as IPv4 and IPv6 by its /64", () => {
  const socket = (address: string) => clientAddress(null, address, 0);
  assert.equal(socket("::ffff:192.0.2.1"), "192.0.2.1");
  assert.equal(socket("::ffff:c000:201"), "192.0.2.1");
  assert.equal(socket("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  assert.equal(socket("2001:DB8:1:2:ffff:ffff:ffff:ffff"), "2001:db8:1:2::/64");
  assert.notEqual(socket("2001:db8:1:3::1"), socket("2001:db8:1:2::1"));
  assert.equal(socket("::1"), "0:0:0:0::/64");
  assert.equal(socket("fe80::1%eth0"), "fe80:0:0:0::/64");
  assert.equal(clientAddress("::ffff:1.2.3.4", "192.0.2.1", 1), "1.2.3.4");
});

Deno.test("ClientAddresses.hash() is 16 bytes of HMAC-SHA-256 under the key, for every address and again", () => {
  const keys = [7, 8].map((byte) => new Uint8Array(32).fill(byte));
  const clients = keys.map((key) => new ClientAddresses(key, 0));
  const addresses = ["unknown", "2001:db8:1:2::/64"];
  for (let i = 0; i < 1_100; i++) addresses.push(`192.0.${i >> 8}.${i & 255}`);
  const seen = new Set<string>();
  for (let round = 0; round < 2; round++) {
    for (const address of addresses) {
      for (const [i, key] of keys.entries()) {
        const expected = createHmac("sha256", key).update(address).digest().subarray(0, 16);
        const hash = clients[i]!.hash(address);
        assert.equal(hash, expected.toString("base64url"));
        seen.add(hash);
      }
    }
  }
  assert.equal(seen.size, 2 * addresses.length);
});
