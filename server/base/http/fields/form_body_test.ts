import assert from "node:assert/strict";
import { RelayError } from "../../errors.ts";
import { readForm } from "./form_body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("readForm() gives the named fields, decoded, and leaves others out", () => {
  assert.deepEqual(
    readForm(bytes("handle=%40bob&reason=a+b%C3%A9&other=1"), ["handle", "reason"]),
    {
      handle: "@bob",
      reason: "a bé",
    },
  );
  assert.deepEqual(readForm(bytes(""), ["handle"]), { handle: "" });
});

Deno.test("readForm() refuses a repeated field and bytes that are no text", () => {
  const isInvalid = (error: unknown) =>
    error instanceof RelayError && error.code === "invalid_json";
  assert.throws(() => readForm(bytes("a=1&a=2"), ["a"]), isInvalid);
  assert.throws(() => readForm(new Uint8Array([0x61, 0x3d, 0xff]), ["a"]), isInvalid);
});
