import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { makeUlid } from "../records/mail_id.ts";
import { makeBounceAddress, readBounceAddress } from "./bounce_address.ts";

const KEY = new Uint8Array(32).fill(7);
const MESSAGE = "msg_01JD0000000000000000000000";
const localPartOf = (address: string) => address.slice(0, address.lastIndexOf("@"));

const bounced = fc.record({
  messageId: fc.tuple(
    fc.integer({ min: 0, max: 2 ** 47 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
  )
    .map(([atMs, random]) => `msg_${makeUlid(atMs, () => random)}`),
  recipient: fc.integer({ min: 0, max: 99 }),
}, { noNullPrototype: true });

Deno.test("makeBounceAddress() gives a local part of 60 characters that names the mail", () => {
  const address = makeBounceAddress({ messageId: MESSAGE, recipient: 7 }, "agents.test", KEY);
  assert.match(
    address,
    /^bounce\+01jd0000000000000000000000\.07[a-z2-7]{24}@agents\.test$/,
  );
  assert.equal(localPartOf(address).length, 60);
  // Computed by Python: base64.b32encode(hmac.new(b"\7" * 32, named, "sha256").digest()[:15])
  assert.equal(localPartOf(address).slice(36), "weswevvufclpf2sadeij3dl2");
});

Deno.test("makeBounceAddress() throws for what has no place in it", () => {
  for (
    const messageId of ["01JD0000000000000000000000", "msg_x", "thr_01JD0000000000000000000000"]
  ) {
    assert.throws(() => makeBounceAddress({ messageId, recipient: 0 }, "a.test", KEY), RangeError);
  }
  for (const recipient of [-1, 100, 1.5, NaN]) {
    assert.throws(
      () => makeBounceAddress({ messageId: MESSAGE, recipient }, "a.test", KEY),
      RangeError,
    );
  }
});

Deno.test("readBounceAddress() reads what was made, in any case", () => {
  fc.assert(fc.property(bounced, fc.infiniteStream(fc.boolean()), (mail, upper) => {
    const localPart = localPartOf(makeBounceAddress(mail, "agents.test", KEY));
    const mixed = [...localPart].map((c) => upper.next().value ? c.toUpperCase() : c).join("");
    assert.deepEqual(readBounceAddress(localPart, KEY), mail);
    assert.deepEqual(readBounceAddress(mixed, KEY), mail);
  }));
});

Deno.test("readBounceAddress() takes nothing that was not made with the key", () => {
  fc.assert(
    fc.property(bounced, fc.nat({ max: 59 }), fc.constantFrom(..."abz27019.+"), (mail, at, c) => {
      const localPart = localPartOf(makeBounceAddress(mail, "agents.test", KEY));
      const other = localPart.slice(0, at) + c + localPart.slice(at + 1);
      if (other !== localPart) assert.equal(readBounceAddress(other, KEY), null);
      assert.equal(readBounceAddress(localPart, new Uint8Array(32)), null);
      assert.equal(readBounceAddress(localPart.slice(0, -1), KEY), null);
      assert.equal(readBounceAddress(`${localPart}a`, KEY), null);
    }),
  );
});

Deno.test("readBounceAddress() takes no other characters for those of ASCII", () => {
  const localPart = localPartOf(
    makeBounceAddress({ messageId: "msg_01JDKKKKKKKKKKKKKKKKKKKKKK", recipient: 0 }, "a.test", KEY),
  );
  assert.notEqual(readBounceAddress(localPart, KEY), null);
  // The Kelvin sign is "k" in lower case.
  assert.equal(readBounceAddress(localPart.replace("k", "\u212a"), KEY), null);
});

Deno.test("readBounceAddress() takes nothing else", () => {
  for (const localPart of ["", "bounce", "bounce+", "bounce+x", "ann", "bounce+".padEnd(60, "a")]) {
    assert.equal(readBounceAddress(localPart, KEY), null);
  }
});
