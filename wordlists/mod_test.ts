import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { adjectives, animals, colors } from "./mod.ts";
import checksumsJson from "./checksums.json" with { type: "json" };

const lists = { adjectives, colors, animals };

// Written down a second time on purpose: whoever changes a list has to change two files that both
// say that no list may ever change, because every name ever given out depends on every index.
const frozen: Record<string, string> = {
  "adjectives.json": "7254fa4772d99ecf0cd6a131f543499e4bf890a19e970badba7f85c4f6702d07",
  "animals.json": "8f19b858495f9a4a4873c995ece9794f826387e6348c139c28fc6ab5452bee2a",
  "colors.json": "1f99cfef46f6722e20569607ad7449575d80934adab2c24988796cad654700ed",
};

function sha256Hex(fileName: string): string {
  return createHash("sha256").update(readFileSync(new URL(fileName, import.meta.url))).digest(
    "hex",
  );
}

for (const [name, words] of Object.entries(lists)) {
  Deno.test(`${name} holds exactly 1,024 words of three to ten lowercase letters`, () => {
    assert.equal(words.length, 1024);
    for (const word of words) assert.match(word, /^[a-z]{3,10}$/);
  });

  Deno.test(`${name} is in strictly ascending byte order`, () => {
    assert.equal(words.length, 1024);
    for (let index = 1; index < words.length; index++) {
      assert.ok(words[index - 1]! < words[index]!, `${words[index - 1]} before ${words[index]}`);
    }
  });

  Deno.test(`${name} cannot be changed at run time`, () => {
    assert.throws(() => (words as string[])[0] = "other", TypeError);
    assert.throws(() => (words as string[]).push("other"), TypeError);
  });

  Deno.test(`${name}.json has the bytes of its frozen checksum`, () => {
    assert.equal(sha256Hex(`${name}.json`), frozen[`${name}.json`]);
  });

  Deno.test(`${name}.json holds one word a line`, () => {
    const text = readFileSync(new URL(`${name}.json`, import.meta.url), "utf8");
    assert.equal(text, `[\n${words.map((word) => `  "${word}"`).join(",\n")}\n]\n`);
  });
}

Deno.test("wordlists hold every word once over all three lists", () => {
  assert.equal(new Set([...adjectives, ...colors, ...animals]).size, 3 * 1024);
});

Deno.test("checksums.json names every list and nothing else", () => {
  assert.deepEqual(checksumsJson, frozen);
  const dataFiles = readdirSync(new URL(".", import.meta.url)).filter((name) =>
    name.endsWith(".json") && name !== "checksums.json"
  );
  assert.deepEqual(dataFiles.sort(), Object.keys(frozen).sort());
});
