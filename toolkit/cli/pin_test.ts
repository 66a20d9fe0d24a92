import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { generateKeyPair } from "../generate_key_pair.ts";
import { wordName } from "../word_name.ts";
import { run } from "./run.ts";

const [BOB, CAROL] = [generateKeyPair(), generateKeyPair()];
const NAME = wordName(BOB.publicKey);
const PINS = "/me/.config/relay/pins.json";

function person(env: Record<string, string> = { HOME: "/me" }) {
  const files = new Map<string, string | Uint8Array>();
  return {
    files,
    async run(...args: string[]) {
      const host = memoryHost(["pin", ...args], { files, env });
      return { code: await run(host), out: host.out, err: host.err };
    },
    async out(...args: string[]) {
      const { code, out, err } = await this.run(...args);
      assert.deepEqual([code, err], [0, ""], args.join(" "));
      return out;
    },
  };
}

Deno.test("pin keeps names and keys, lists them, and removes them in any spelling", async () => {
  const me = person();
  assert.equal(await me.out(), "");
  assert.equal(await me.out("@Bob", BOB.address), `@bob  ${BOB.address}\n`);
  assert.equal(await me.out(NAME.toUpperCase(), BOB.address), `${NAME}  ${BOB.address}\n`);
  assert.equal(await me.out(CAROL.address), `${CAROL.address}\n`);
  assert.equal(await me.out("BOB", BOB.address), `@bob  ${BOB.address}\n`, "once more is no harm");
  assert.deepEqual(JSON.parse(me.files.get(PINS) as string), {
    version: 1,
    pins: { bob: BOB.address, [NAME]: BOB.address, [CAROL.address]: CAROL.address },
  });
  assert.deepEqual((await me.out("--json")).trim().split("\n").map((line) => JSON.parse(line)), [
    { name: "bob", address: BOB.address },
    { name: NAME, address: BOB.address },
    { name: null, address: CAROL.address },
  ]);
  assert.equal(await me.out("--remove", "@BOB"), `@bob  ${BOB.address}\n`);
  assert.equal(await me.out(), `${NAME}  ${BOB.address}\n${CAROL.address}\n`);
  await me.out("bob", BOB.address);
  assert.equal((await me.out("--remove", BOB.address)).split("\n").length, 3, "all its pins");
  assert.equal(await me.out("--remove", CAROL.address), `${CAROL.address}\n`);
  assert.equal(await me.out(), "");
});

Deno.test("pin changes no pin, and refuses what cannot be pinned, with what to do", async () => {
  const me = person();
  await me.out("bob", BOB.address);
  const before = me.files.get(PINS);
  const wrong: [string[], RegExp][] = [
    [["@Bob", CAROL.address], new RegExp(`@bob is pinned to ${BOB.address}.+pin --remove @Bob`)],
    [["carol"], /which address has carol\? .+'relay resolve carol'/],
    [["carol", "bob"], /ADDRESS must be an address/],
    [["carol", NAME], /ADDRESS must be an address/],
    [[NAME, CAROL.address], new RegExp(`${NAME} is no word name of ${CAROL.address}`)],
    [[CAROL.address, BOB.address], /give the name first/],
    [["no name", BOB.address], /NAME must be a handle/],
    [["--remove"], /ADDRESS-OR-NAME is missing/],
    [["--remove", "carol"], /@carol is not pinned/],
    [["--remove", "bob", BOB.address], /unexpected argument/],
    [["bob", BOB.address, "x"], /unexpected argument 'x'/],
  ];
  for (const [args, words] of wrong) {
    const { code, out, err } = await me.run(...args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, words);
  }
  assert.equal(me.files.get(PINS), before);
});

Deno.test("pin says what to do with a file that is none, and keeps it", async () => {
  const files = [
    "",
    "null",
    '{"version":2,"pins":{}}',
    '{"version":1,"pins":[1]}',
    '{"version":1,"pins":{"bob":1}}',
    '{"version":1,"pins":{"bob":"carol"}}',
    `{"version":1,"pins":{"bob":"${BOB.address}","BOB":"${BOB.address}"}}`,
    `{"version":1,"pins":{"${NAME}":"${CAROL.address}"}}`,
  ];
  for (const text of files) {
    const me = person();
    me.files.set(PINS, text);
    for (const args of [[], ["carol", CAROL.address]]) {
      const { code, err } = await me.run(...args);
      assert.equal(code, 2, text);
      assert.match(err, /'\/me\/\.config\/relay\/pins\.json' is no file of pins: mend it/);
    }
    assert.equal(me.files.get(PINS), text);
  }
});

Deno.test("pin takes the file that RELAY_PINS_FILE names, and asks for it where there is no home", async () => {
  const me = person({ HOME: "/me", RELAY_PINS_FILE: "mine.json" });
  await me.out("bob", BOB.address);
  assert.deepEqual([...me.files.keys()], ["mine.json"]);
  const nobody = person({});
  assert.equal(await nobody.out(), "");
  assert.match((await nobody.run("bob", BOB.address)).err, /name a file in RELAY_PINS_FILE/);
});
