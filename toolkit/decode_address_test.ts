import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { AddressError } from "./address_error.ts";
import { decodeAddress } from "./decode_address.ts";
import { encodeAddress } from "./encode_address.ts";
import fc from "../tests/support/seeded_fast_check.ts";

Deno.test("decodeAddress() reverses encodeAddress()", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
    fc.pre(key.some((byte, i) => i < 8 && byte !== 0));
    deepEqual(decodeAddress(encodeAddress(key)), key);
  }));
});

Deno.test("decodeAddress() accepts nothing but what encodeAddress() writes", () => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl +";
  const text = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 30, maxLength: 46 });
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(text, text.map((t) => t.replace(/[0OIl +]/g, "1"))), (address) => {
      try {
        equal(encodeAddress(decodeAddress(address)), address);
        accepted++;
      } catch (thrown) {
        if (!(thrown instanceof AddressError)) throw thrown;
      }
    }),
    { numRuns: 3000 },
  );
  equal(accepted > 0, true);
});

Deno.test("encodeAddress() takes 32 bytes only", () => {
  throws(() => encodeAddress(new Uint8Array(31).fill(255)), TypeError);
  throws(() => encodeAddress(new Uint8Array(33).fill(255)), TypeError);
});

Deno.test("decodeAddress() says how long an address is", () => {
  throws(() => decodeAddress("short"), {
    name: "AddressError",
    code: "wrong_length",
    message: "an address has 33 to 44 characters, not 5",
  });
});
