import assert from "node:assert/strict";
import { custodyKeyId, KeyRing, UnknownCustodyKey } from "./key_ring.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));
const bytes = (text: string) => new TextEncoder().encode(text);
const [first, second] = [random(32), random(32)];

Deno.test("KeyRing.open() gives what seal() took, under every key of the ring", () => {
  const old = new KeyRing([first], random);
  const sealed = old.seal(bytes("secret"), bytes("owner"));
  assert.equal(sealed.keyId, custodyKeyId(first));
  assert.equal(sealed.nonce.length, 12);
  assert.equal(sealed.sealed.length, "secret".length + 16);
  const rotated = new KeyRing([second, first], random);
  assert.deepEqual(rotated.open(sealed, bytes("owner")), bytes("secret"));
  assert.equal(rotated.seal(bytes("secret"), bytes("owner")).keyId, custodyKeyId(second));
});

Deno.test("KeyRing.seal() takes a fresh nonce each time", () => {
  const ring = new KeyRing([first], random);
  const nonces = Array.from(
    { length: 200 },
    () => ring.seal(bytes("x"), bytes("y")).nonce.join(),
  );
  assert.equal(new Set(nonces).size, 200);
});

Deno.test("KeyRing.open() refuses another owner, and any changed bit", () => {
  const ring = new KeyRing([first], random);
  const sealed = ring.seal(bytes("secret"), bytes("owner"));
  assert.throws(() => ring.open(sealed, bytes("other")));
  for (const part of ["nonce", "sealed"] as const) {
    for (let i = 0; i < sealed[part].length; i++) {
      const changed = new Uint8Array(sealed[part]);
      changed[i]! ^= 1 << i % 8;
      assert.throws(() => ring.open({ ...sealed, [part]: changed }, bytes("owner")));
    }
  }
});

Deno.test("KeyRing.open() names a key that it was not given", () => {
  const sealed = new KeyRing([first], random).seal(bytes("secret"), bytes("owner"));
  const ring = new KeyRing([second], random);
  assert.equal(ring.has(sealed.keyId), false);
  assert.throws(
    () => ring.open(sealed, bytes("owner")),
    (error) => error instanceof UnknownCustodyKey && error.keyId === custodyKeyId(first),
  );
});

Deno.test("KeyRing.seal() without a key throws, and a key has 32 bytes", () => {
  assert.equal(new KeyRing([], random).primaryId, null);
  assert.throws(() => new KeyRing([], random).seal(bytes("a"), bytes("b")), /no custody key/);
  assert.throws(() => new KeyRing([random(31)], random), TypeError);
});

Deno.test("custodyKeyId() is 16 hex digits that tell keys apart", () => {
  assert.match(custodyKeyId(first), /^[0-9a-f]{16}$/);
  assert.notEqual(custodyKeyId(first), custodyKeyId(second));
  assert.equal(custodyKeyId(new Uint8Array(32)), "0450f5bd31cc1169");
});
