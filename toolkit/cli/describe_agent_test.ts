import assert from "node:assert/strict";
import { createPins } from "../client/pins.ts";
import { generateKeyPair } from "../generate_key_pair.ts";
import { wordName } from "../word_name.ts";
import { describeAgent } from "./describe_agent.ts";

const { address, publicKey } = generateKeyPair();
const other = generateKeyPair();
const NAME = wordName(publicKey);
const NOBODY = createPins({});

Deno.test("describeAgent() begins with the key, and says where the key cannot have the name", () => {
  const shown = (name: string) => describeAgent({ address, handle: "bob", wordName: name }, NOBODY);
  for (const name of [NAME, wordName(publicKey, 3)]) {
    assert.equal(shown(name), `${address} (${name}, @bob)`);
  }
  const foreign = wordName(other.publicKey);
  assert.equal(shown(foreign), `${address} (${foreign} IS NO NAME OF THIS KEY, @bob)`);
  for (const none of ["", "bob", "signature valid", "a-b-c\n", "a-b-c".repeat(100)]) {
    assert.equal(shown(none), `${address} (no word name, @bob)`);
  }
});

Deno.test("describeAgent() shows handles of their pattern alone", () => {
  const forged = [
    `alice (${NAME}, ${other.address})`,
    "passed: message 1",
    "Alice",
    "@alice",
    "",
    "al",
    "a".repeat(33),
    "alice\u202e",
    "аlice",
  ];
  for (const handle of forged) {
    const line = describeAgent({ address, handle, wordName: NAME }, NOBODY);
    assert.equal(line, `${address} (${NAME}, no handle)`);
  }
});

Deno.test("describeAgent() begins with the pinned name, and tells of a pin that is contradicted", () => {
  const bob = { address, handle: "bob", wordName: NAME };
  assert.equal(describeAgent(bob, createPins({ BOB: address })), `@bob ${address} (${NAME})`);
  const byName = createPins({ [NAME]: address });
  assert.equal(describeAgent(bob, byName), `${NAME} ${address} (${NAME}, @bob)`);
  const shownAs = { ...bob, handle: "mallory" };
  assert.equal(
    describeAgent(shownAs, createPins({ bob: address })),
    `${address} (${NAME}, @mallory)`,
    "a name that the relay does not show does not vouch for the one that it does",
  );
  for (const handle of ["bob", "BOB", "@bob"]) {
    assert.match(
      describeAgent({ ...bob, handle }, createPins({ bob: other.address })),
      new RegExp(`^${address} .+, NOT THE KEY PINNED AS @bob\\)$`),
    );
  }
});
