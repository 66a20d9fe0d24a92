import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { keyPairFromHex } from "../generate_key_pair.ts";
import { run } from "./run.ts";

const ADDRESS = "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z";

Deno.test("hash prints the content hash of the body", async () => {
  const expected = "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a";
  for (const args of [["hash"], ["hash", "-"]]) {
    const host = memoryHost(args, { stdin: [' "he', 'llo"\n'] });
    equal(await run(host), 0);
    equal(host.out, `${expected}\n`);
  }
  const host = memoryHost(["hash", "body.json", "--json"], { files: { "body.json": '"hello"' } });
  equal(await run(host), 0);
  deepEqual(JSON.parse(host.out), { content_hash: expected });
});

Deno.test("hash refuses what languages would read differently", async () => {
  for (const stdin of ["", "{} {}", "9007199254740993", '{"a":1,"a":1}', "hello"]) {
    const host = memoryHost(["hash"], { stdin });
    equal(await run(host), 2);
    equal(host.out, "");
    match(host.err, /^relay hash: malformed: the body is not strict JSON: .+ \(line 1, column \d/);
  }
});

Deno.test("hash and verify tell which file cannot be read", async () => {
  for (const verb of ["hash", "verify"]) {
    const host = memoryHost([verb, "gone.json"]);
    equal(await run(host), 2);
    equal(host.err, `relay ${verb}: cannot read 'gone.json': there is no such file\n`);
  }
});

Deno.test("name prints the word name with as many adjectives as asked for", async () => {
  const short = memoryHost(["name", ADDRESS]);
  equal(await run(short), 0);
  match(short.out, /^[a-z]+-[a-z]+-[a-z]+\n$/);
  const long = memoryHost(["name", ADDRESS, "--adjectives", "3", "--json"]);
  equal(await run(long), 0);
  const { address, word_name } = JSON.parse(long.out);
  equal(address, ADDRESS);
  equal(word_name.startsWith(`${short.out.trim()}-`), true);
  equal(word_name.split("-").length, 5);
});

Deno.test("name refuses what is no address and counts out of range", async () => {
  for (
    const args of [
      ["nobody"],
      [ADDRESS + "1"],
      [ADDRESS, "--adjectives", "0"],
      [ADDRESS, "--adjectives", "1001"],
      [ADDRESS, "--adjectives", "x"],
      [],
    ]
  ) {
    const host = memoryHost(["name", ...args]);
    equal(await run(host), 2);
    equal(host.out, "");
  }
});

Deno.test("keygen keeps the pair in the key file and never prints the private key", async () => {
  for (
    const [args, env, path] of [
      [["--key", "my.json"], { RELAY_KEY_FILE: "env.json", HOME: "/home/me" }, "my.json"],
      [[], { RELAY_KEY_FILE: "env.json", HOME: "/home/me" }, "env.json"],
      [[], { HOME: "/home/me" }, "/home/me/.config/relay/key.json"],
      [[], { USERPROFILE: "C:/me" }, "C:/me/.config/relay/key.json"],
    ] as [string[], Record<string, string>, string][]
  ) {
    const host = memoryHost(["keygen", "--json", ...args], { env });
    equal(await run(host), 0);
    deepEqual([...host.files.keys()], [path]);
    const file = JSON.parse(host.files.get(path) as string);
    deepEqual(Object.keys(file), ["version", "address", "private_key_hex"]);
    equal(file.version, 1);
    equal(keyPairFromHex(file.private_key_hex).address, file.address);
    const { address, word_name, key_file } = JSON.parse(host.out);
    deepEqual([address, key_file], [file.address, path]);
    match(word_name, /^[a-z]+-[a-z]+-[a-z]+$/);
    equal((host.out + host.err).includes(file.private_key_hex), false);
  }
});

Deno.test("keygen replaces a key file only with --force", async () => {
  const refused = memoryHost(["keygen", "--key", "my.json"], { files: { "my.json": "old" } });
  equal(await run(refused), 2);
  equal(refused.files.get("my.json"), "old");
  match(refused.err, /--force/);
  const forced = memoryHost(["keygen", "--key", "my.json", "--force"], {
    files: { "my.json": "old" },
  });
  equal(await run(forced), 0);
  match(forced.files.get("my.json") as string, /"version": 1/);
});

Deno.test("keygen asks for a place where there is no home folder", async () => {
  const host = memoryHost(["keygen"]);
  equal(await run(host), 2);
  match(host.err, /--key FILE/);
});
