import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { hasStrictKeyForm, hasStrictSignatureForm, isStrictPublicKey } from "./strict_signature.ts";

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number(value >> BigInt(8 * i) & 255n));
}

function signature(r: bigint, s: bigint): Uint8Array {
  return Uint8Array.from([...littleEndian(r), ...littleEndian(s)]);
}

const SIGN_BIT = 2n ** 255n;
const BASE_Y = 46316835694926478169428394003475163141307993866256225615783033603165251855960n;
const ORDER_8_Y = [
  2707385501144840649318225287225658788936804267575313519463743609750303402022n,
  55188659117513257062467267217118295137698188065244968500265048394206261417927n,
];

Deno.test("hasStrictKeyForm() draws the line at p, whatever the sign bit", () => {
  for (const sign of [0n, SIGN_BIT]) {
    deepEqual(
      [P - 2n, P, P + 2n, P + 18n].map((y) => hasStrictKeyForm(littleEndian(y + sign))),
      [true, false, false, false],
    );
  }
});

Deno.test("hasStrictKeyForm() refuses the y of every point of small order, neighbours pass", () => {
  for (const y of [0n, 1n, P - 1n, ...ORDER_8_Y]) {
    for (const sign of [0n, SIGN_BIT]) equal(hasStrictKeyForm(littleEndian(y + sign)), false);
  }
  for (const y of [2n, P - 2n, ...ORDER_8_Y.flatMap((y) => [y - 1n, y + 1n])]) {
    equal(hasStrictKeyForm(littleEndian(y)), true);
  }
});

Deno.test("hasStrictSignatureForm() draws the line for S at L", () => {
  deepEqual(
    [0n, 1n, L - 1n, L, L + 1n, 2n * L, 2n ** 253n, 2n ** 256n - 1n]
      .map((s) => hasStrictSignatureForm(signature(BASE_Y, s))),
    [true, true, true, false, false, false, false, false],
  );
});

Deno.test("hasStrictSignatureForm() refuses an R of small order or not canonical", () => {
  for (const y of [0n, 1n, P - 1n, ...ORDER_8_Y, P, P + 1n, P + 18n]) {
    for (const sign of [0n, SIGN_BIT]) {
      equal(hasStrictSignatureForm(signature(y + sign, 1n)), false);
    }
  }
});

Deno.test("isStrictPublicKey() refuses what is no point", () => {
  equal(isStrictPublicKey(littleEndian(BASE_Y)), true);
  equal(hasStrictKeyForm(littleEndian(2n)), true);
  equal(isStrictPublicKey(littleEndian(2n)), false);
});

Deno.test("hasStrictKeyForm(), isStrictPublicKey() and hasStrictSignatureForm() take their lengths only", () => {
  for (const length of [0, 31, 33, 64]) {
    throws(() => hasStrictKeyForm(new Uint8Array(length)), TypeError);
    throws(() => isStrictPublicKey(new Uint8Array(length)), TypeError);
  }
  for (const length of [0, 32, 63, 65]) {
    throws(() => hasStrictSignatureForm(new Uint8Array(length)), TypeError);
  }
});
