import assert from "node:assert/strict";
import { generateKeyPair } from "../generate_key_pair.ts";
import { parseIdentifier } from "./identifier.ts";

Deno.test("parseIdentifier() tells the three forms apart and gives their normal spelling", () => {
  const { address } = generateKeyPair();
  const cases: [string, string, string][] = [
    ["@Some_Agent", "handle", "some_agent"],
    ["x".repeat(32), "handle", "x".repeat(32)],
    ["Able-Blue-Ant", "word_name", "able-blue-ant"],
    ["able-blue-ant-bold-calm", "word_name", "able-blue-ant-bold-calm"],
    [address, "address", address],
  ];
  for (const [text, form, normal] of cases) {
    assert.deepEqual(parseIdentifier(text), { form, text: normal });
  }
});

Deno.test("parseIdentifier() refuses what names nobody", () => {
  const { address } = generateKeyPair();
  const none = [
    "",
    "@",
    "ab",
    "@@abc",
    "a.b.c",
    "able-blue",
    "-",
    "a-b-",
    `@${address}`,
    "é".repeat(9),
  ];
  // One character more can be another key: of 43 characters there may be 44.
  for (const text of [...none, address.slice(0, -3), `${address}11`, ` ${address}`]) {
    assert.throws(() => parseIdentifier(text), TypeError, text);
  }
});
