import assert from "node:assert/strict";
import { adjectives, animals } from "../../../../wordlists/mod.ts";
import { cleanLocalPart, makeLocalPart, refuseReservedLocalPart } from "./local_part.ts";

const bytesOf = (...values: number[]) => () => Uint8Array.from(values);

Deno.test("makeLocalPart() makes adjective, animal and four digits from eight random bytes", () => {
  assert.equal(
    makeLocalPart(bytesOf(0, 0, 0, 0, 0, 0, 0, 0)),
    `${adjectives[0]}-${animals[0]}-0000`,
  );
  assert.equal(
    makeLocalPart(bytesOf(3, 255, 4, 1, 0, 0, 18, 103)),
    `${adjectives[1023]}-${animals[1]}-4711`,
  );
  assert.match(makeLocalPart(bytesOf(255, 255, 255, 255, 255, 255, 255, 255)), /-\d{4}$/);
});

Deno.test("every local part that makeLocalPart() can make is one that may be had", () => {
  const longest = (words: readonly string[]) =>
    words.reduce((long, word) => word.length > long.length ? word : long);
  assert.ok(`${longest(adjectives)}-${longest(animals)}-0000`.length <= 64);
  for (const list of [adjectives, animals]) {
    for (const word of list) {
      const localPart = `${word}-0000`;
      assert.equal(cleanLocalPart(localPart), localPart);
      refuseReservedLocalPart(localPart, ["relay"]);
    }
  }
});
