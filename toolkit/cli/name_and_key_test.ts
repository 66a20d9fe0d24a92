import assert from "node:assert/strict";
import { generateKeyPair } from "../generate_key_pair.ts";
import { wordName } from "../word_name.ts";
import { nameAndKey } from "./name_and_key.ts";

Deno.test("nameAndKey() says where the key cannot have the name", () => {
  const { address, publicKey } = generateKeyPair();
  const other = wordName(generateKeyPair().publicKey);
  for (const name of [wordName(publicKey), wordName(publicKey, 3)]) {
    assert.equal(nameAndKey(name, address), `${name}, ${address}`);
  }
  assert.equal(nameAndKey(other, address), `${other} IS NO NAME OF ${address}`);
  assert.equal(nameAndKey("", address), ` IS NO NAME OF ${address}`);
  assert.equal(nameAndKey(other, "no address"), `${other} IS NO NAME OF no address`);
});
