import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { base64 } from "@scure/base";
import { decodeAddress } from "../decode_address.ts";
import { keyPairFromHex } from "../generate_key_pair.ts";
import { verifySignature } from "../verify_signature.ts";
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

Deno.test("keygen --passphrase keeps the key encrypted, and verbs open it with the passphrase", async () => {
  const env = { RELAY_KEY_PASSPHRASE: "correct horse" };
  const made = memoryHost(["keygen", "--passphrase", "--json", "--key", "my.json"], { env });
  equal(await run(made), 0);
  const { address } = JSON.parse(made.out);
  const file = JSON.parse(made.files.get("my.json") as string);
  deepEqual(Object.keys(file), ["version", "address", "locked_private_key"]);
  deepEqual([file.version, file.address], [2, address]);
  const sign = async (state: Parameters<typeof memoryHost>[1]) => {
    const args = ["sign", "GET", "/v1/whoami", "--key", "my.json", "--json"];
    const host = memoryHost(args, { files: made.files, ...state });
    return { code: await run(host), out: host.out, err: host.err };
  };
  const ways = [
    { env },
    { env: { RELAY_KEY_PASSPHRASE_FILE: "secret.txt" }, files: withSecret(made.files) },
    { terminals: ["stdin"], secrets: ["correct horse"] } as const,
  ];
  for (const state of ways) {
    const { code, out } = await sign(state);
    equal(code, 0);
    equal(JSON.parse(out).headers["X-Relay-Pubkey"], address);
  }
  // The address of a key is not encrypted: verify needs no passphrase.
  const verify = memoryHost(["verify", "--key", "my.json", "--to-handle", "me_too"], {
    files: made.files,
    stdin: "[{}]",
  });
  equal(await run(verify), 2);
  match(verify.out, /^malformed: from is missing/);
  const refused: [Parameters<typeof memoryHost>[1], RegExp][] = [
    [{}, /nobody is here to type it: give it in RELAY_KEY_PASSPHRASE/],
    [{ env: { RELAY_KEY_PASSPHRASE: "wrong" } }, /the passphrase does not open 'my\.json'/],
    [{ terminals: ["stdin"], secrets: [""] }, /there is no passphrase/],
    [{ terminals: ["stdin"] }, /no passphrase was typed/],
  ];
  for (const [state, words] of refused) {
    const { code, out, err } = await sign(state);
    deepEqual([code, out], [2, ""]);
    match(err, words);
  }
});

Deno.test("keygen --passphrase asks twice on a terminal and writes nothing when they differ", async () => {
  const args = ["keygen", "--passphrase", "--key", "my.json"];
  const differing = memoryHost(args, { terminals: ["stdin"], secrets: ["one", "two"] });
  equal(await run(differing), 2);
  match(differing.err, /the two passphrases differ; nothing was written/);
  equal(differing.files.size, 0);
});

function withSecret(files: Map<string, string | Uint8Array>) {
  return new Map([...files, ["secret.txt", "correct horse\r\nmore\n"]]);
}

Deno.test("sign prints the headers of a request that anybody can check", async () => {
  const made = memoryHost(["keygen", "--key", "my.json"]);
  await run(made);
  const sign = async (args: string[], stdin?: string) => {
    const clock = { now: () => 1_760_000_000_999, after: () => () => {} };
    const host = memoryHost(["sign", ...args, "--key", "my.json"], {
      files: made.files,
      clock,
      ...(stdin === undefined ? {} : { stdin }),
    });
    return { code: await run(host), out: host.out, err: host.err };
  };
  const get = await sign(["GET", "/v1/inbox?since_id=5", "--json"]);
  const { canonical_string, headers } = JSON.parse(get.out);
  match(canonical_string, /^relay:v1:GET:\/v1\/inbox:e3b0c442[0-9a-f]{56}:1760000000$/);
  const verified = await verifySignature(
    new TextEncoder().encode(canonical_string),
    base64.decode(headers["X-Relay-Signature"]),
    decodeAddress(headers["X-Relay-Pubkey"]),
  );
  equal(verified, true);
  const lines = (await sign(["GET", "/v1/inbox"])).out.trim().split("\n");
  deepEqual(lines.map((line) => line.split(": ")[0]), [
    "X-Relay-Pubkey",
    "X-Relay-Timestamp",
    "X-Relay-Signature",
  ]);
  const seconds = async (args: string[]) =>
    JSON.parse((await sign([...args, "--json"], "{}")).out).headers["X-Relay-Timestamp"];
  const post = ["POST", "/v1/messages", "-"];
  deepEqual(
    [await seconds(post), await seconds(post), await seconds(["PATCH", "/v1/agents/me", "-"])],
    ["1760000000", "1760000001", "1760000000"],
  );
  deepEqual([await seconds(["GET", "/v1/a"]), await seconds(["GET", "/v1/a"])], [
    "1760000000",
    "1760000000",
  ]);
  equal(await seconds([...post, "--timestamp", "5"]), "5");
  for (const wrong of [["GET"], ["get", "/v1"], ["GET", "v1"], ["GET", "/\u00e9"], []]) {
    equal((await sign(wrong)).code, 2, wrong.join(" "));
  }
});
