import assert from "node:assert/strict";
import { generateKeyPair, wordName } from "../mod.ts";
import { createPins } from "./pins.ts";

const [BOB, CAROL] = [generateKeyPair(), generateKeyPair()];
const NAME = wordName(BOB.publicKey);

function sender(from: string, from_handle: string, from_word_name = "a-b-c") {
  return { from, from_handle, from_word_name };
}

Deno.test("createPins() finds a name in every spelling", () => {
  const pins = createPins({ "@Bob": BOB.address, [NAME.toUpperCase()]: BOB.address });
  for (const name of ["bob", "BOB", "@bOb", NAME, NAME.toUpperCase()]) {
    assert.equal(pins.addressOf(name), BOB.address, name);
  }
  for (const name of ["b0b", "bob ", "@@bob", "ｂｏｂ", "", BOB.address, "__proto__"]) {
    assert.equal(pins.addressOf(name), undefined, name);
  }
});

Deno.test("Pins.expectedSender() follows the names that are shown, and a key pinned by itself", () => {
  const { expectedSender } = createPins({
    bob: BOB.address,
    [NAME]: BOB.address,
    carol: CAROL.address,
  });
  assert.equal(expectedSender(sender(BOB.address, "bob")), BOB.address);
  assert.equal(expectedSender(sender(CAROL.address, "@BOB")), BOB.address, "a mismatch");
  assert.equal(expectedSender(sender(CAROL.address, "mallory", NAME)), BOB.address, "a mismatch");
  assert.equal(expectedSender(sender(BOB.address, "mallory", NAME)), BOB.address);
  assert.equal(expectedSender(sender(CAROL.address, "carol", NAME)), BOB.address, "one differs");
  assert.equal(expectedSender(sender(BOB.address, "carol", NAME)), CAROL.address, "one differs");
  assert.equal(expectedSender(sender(CAROL.address, "boss")), undefined, "shown by another name");
  const byKey = createPins({ [CAROL.address]: CAROL.address });
  assert.equal(byKey.expectedSender(sender(CAROL.address, "boss")), CAROL.address);
  assert.equal(byKey.expectedSender(sender(BOB.address, "boss")), undefined);
});

Deno.test("createPins() refuses what cannot be pinned", () => {
  const wrong: Record<string, string>[] = [
    { "no name": BOB.address },
    { bob: "carol" },
    { bob: NAME },
    { bob: "" },
    { [BOB.address]: CAROL.address },
    { [NAME]: CAROL.address },
    { bob: BOB.address, "@BOB": CAROL.address },
  ];
  for (const pins of wrong) assert.throws(() => createPins(pins), TypeError, JSON.stringify(pins));
  createPins({ bob: BOB.address, "@BOB": BOB.address });
});
