import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { decodeBase64, decodeQuotedPrintable, decodeTransfer } from "./transfer_encoding.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

const bytes = (latin1: string) => Uint8Array.from(Buffer.from(latin1, "latin1"));
const base64 = (text: string) => {
  const { bytes: decoded, isBroken } = toEnd(decodeBase64(bytes(text)));
  return [Buffer.from(decoded).toString("latin1"), isBroken];
};
const quoted = (text: string) => {
  const { bytes: decoded, isBroken } = toEnd(decodeQuotedPrintable(bytes(text)));
  return [Buffer.from(decoded).toString("latin1"), isBroken];
};

Deno.test("decodeBase64() decodes what the platform encodes, wherever lines end", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 90 }),
      (data, width) => {
        const text = Buffer.from(data).toString("base64").replaceAll(
          new RegExp(`.{${width}}`, "g"),
          "$&\r\n",
        );
        const { bytes: decoded, isBroken } = toEnd(decodeBase64(bytes(text)));
        assert.deepEqual([Buffer.from(decoded), isBroken], [Buffer.from(data), false]);
      },
    ),
  );
});

Deno.test("decodeBase64() takes missing padding and pieces, and tells of what does not belong there", () => {
  assert.deepEqual(base64("QQ"), ["A", false]);
  assert.deepEqual(base64("QUI"), ["AB", false]);
  assert.deepEqual(base64("QQ==QUI="), ["AAB", false]);
  assert.deepEqual(base64("Q*Q=="), ["A", true]);
  assert.deepEqual(base64("Q"), ["", true]);
  assert.deepEqual(base64("Q=QQ=="), ["A", true]);
  assert.deepEqual(base64(""), ["", false]);
});

Deno.test("decodeQuotedPrintable() undoes octets and soft line ends, and keeps other line ends", () => {
  assert.deepEqual(quoted("a=3D=c3=A4b"), ["a=\xc3\xa4b", false]);
  assert.deepEqual(quoted("a =\r\nb=\nc=  \r\nd="), ["a bcd", false]);
  assert.deepEqual(quoted("a \t\r\nb \nc\rd =20 "), ["a\r\nb\nc\rd  ", false]);
  assert.deepEqual(quoted("=g0 = x =1"), ["=g0 = x =1", true]);
});

Deno.test("decodeTransfer() leaves bytes as they are unless they are encoded", () => {
  const body = bytes("SGk=");
  for (const name of ["", "7bit", " 8BIT ", "binary"]) {
    assert.deepEqual(toEnd(decodeTransfer(body, name)), { bytes: body, isBroken: false });
  }
  assert.deepEqual(toEnd(decodeTransfer(body, "x-uuencode")), { bytes: body, isBroken: true });
  assert.equal(toEnd(decodeTransfer(body, "BASE64")).bytes.length, 2);
});
