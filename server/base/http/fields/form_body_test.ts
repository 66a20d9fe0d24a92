import assert from "node:assert/strict";
import { RelayError } from "../../errors.ts";
import { readForm, requireForm } from "./form_body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("readForm() gives the named fields, decoded, and leaves others out", () => {
  assert.deepEqual(
    readForm(bytes("handle=%40bob&reason=a+b%C3%A9&other=1"), ["handle", "reason"]),
    {
      handle: "@bob",
      reason: "a bé",
    },
  );
  assert.deepEqual(readForm(bytes(""), ["handle"]), { handle: undefined });
});

Deno.test("readForm() refuses repeated fields, what is no UTF-8, and too many fields", () => {
  const isInvalid = (words: RegExp) => (error: unknown) =>
    error instanceof RelayError && error.code === "invalid_json" && words.test(error.message);
  assert.throws(
    () => readForm(bytes("a=1&a=2"), ["a"]),
    isInvalid(/field a is given more than once/),
  );
  assert.throws(() => readForm(bytes("a=1&%61=2"), ["a"]), isInvalid(/more than once/));
  assert.throws(() => readForm(new Uint8Array([0x61, 0x3d, 0xff]), ["a"]), isInvalid(/UTF-8/));
  for (const value of ["%", "%f", "%zz", "%ff", "%c3%28", "%ed%a0%80"]) {
    assert.throws(() => readForm(bytes(`a=${value}`), ["a"]), isInvalid(/field a must be percent/));
  }
  assert.throws(() => readForm(bytes("&".repeat(32)), ["a"]), isInvalid(/at most 32 fields/));
  assert.deepEqual(readForm(bytes(`a=1${"&b".repeat(31)}`), ["a"]), { a: "1" });
});

Deno.test("requireForm() takes a form with any parameters, and says what is to be sent", () => {
  const of = (type: string | null) => ({
    headers: new Headers(type === null ? {} : { "Content-Type": type }),
  });
  const form = "application/x-www-form-urlencoded";
  for (const type of [form, `${form};charset=UTF-8`, `${form.toUpperCase()} ; charset=utf-8`]) {
    requireForm(of(type), ["a"]);
  }
  for (const type of [null, "", "text/plain", `${form}x`, `x${form}`, "multipart/form-data"]) {
    assert.throws(() => requireForm(of(type), ["a", "b", "c"]), {
      code: "invalid_json",
      message: `the body must be a form (${form}) with a, b and c`,
    });
  }
});
