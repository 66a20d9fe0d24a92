import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { memoryHost, type MemoryHostState } from "../../tests/toolkit/memory_host.ts";
import { canonicalJson } from "../canonical_json.ts";
import { contentHash } from "../content_hash.ts";
import { generateKeyPair } from "../generate_key_pair.ts";
import type { InboxMessage } from "../inbox_message.ts";
import type { JsonValue } from "../json_value.ts";
import { signRequest } from "../sign_request.ts";
import { wordName } from "../word_name.ts";
import { run } from "./run.ts";

const SENDER = generateKeyPair();
const RECIPIENT = generateKeyPair();
const OTHER = generateKeyPair();

function message(to: string, raw?: string): InboxMessage {
  const body: JsonValue = { text: "hello" };
  const request = new TextEncoder().encode(raw ?? canonicalJson({ to, body }));
  const { canonicalString, signature } = signRequest(
    { method: "POST", path: "/v1/messages", body: request, timestamp: 1760000000 },
    SENDER.privateKey,
  );
  return {
    id: 7,
    from: SENDER.address,
    from_handle: "some_sender",
    from_word_name: wordName(SENDER.publicKey),
    body,
    content_hash: contentHash(body),
    signature,
    canonical_string: canonicalString,
    in_reply_to: null,
    content_type: "text",
    created_at: "2025-10-09T08:53:21.500Z",
  };
}

const GOOD = message(RECIPIENT.address);
const FALSE = { ...GOOD, body: "other" };
const NULL_STRING = { ...GOOD, canonical_string: null };
const { signature: _, ...MALFORMED } = GOOD;
const TO = ["--to", RECIPIENT.address];

async function verify(args: readonly string[], input: unknown, state: MemoryHostState = {}) {
  const stdin = typeof input === "string" ? input : JSON.stringify(input);
  const host = memoryHost(["verify", ...args], { stdin, ...state });
  const code = await run(host);
  return { code, out: host.out, err: host.err };
}

function keyFile(address: string, privateKeyHex: string): string {
  return JSON.stringify({ version: 1, address, private_key_hex: privateKeyHex });
}

const KEY_FILE = keyFile(RECIPIENT.address, RECIPIENT.privateKeyHex);

Deno.test("verify prints one line of verdicts, each by itself", async () => {
  deepEqual(await verify([...TO, "--from", SENDER.address], GOOD), {
    code: 0,
    out: "passed: message 7: signature valid; signer pinned; from " +
      `${SENDER.address}; content hash matches; body bound, ` +
      "addressed by key; signed at 2025-10-09T08:53:20.000Z by the signer's clock, 1.5 s before " +
      "created_at\n",
    err: "",
  });
});

Deno.test("verify says that the signer is not pinned without --from", async () => {
  const { code, out } = await verify(TO, GOOD);
  equal(code, 0);
  match(out, /; signer not pinned;/);
});

Deno.test("verify never says only that something is verified", async () => {
  for (const input of [GOOD, FALSE, NULL_STRING]) {
    for (const args of [[], TO, [...TO, "--from", SENDER.address]]) {
      equal(/verified/i.test((await verify(args, input)).out), false);
    }
  }
});

Deno.test("verify ends with 1 for each thing that is false, and says it loudly", async () => {
  const cases: [string[], unknown, RegExp][] = [
    [TO, FALSE, /content hash MISMATCH/],
    [TO, { ...GOOD, signature: message(OTHER.address).signature }, /signature INVALID/],
    [[...TO, "--from", OTHER.address], GOOD, /signer MISMATCH/],
    [TO, { ...GOOD, canonical_string: "x" }, /canonical_string MALFORMED/],
    [[...TO, "--max-skew", "1"], GOOD, /MORE THAN --max-skew/],
  ];
  for (const [args, input, words] of cases) {
    const { code, out, err } = await verify(args, input);
    deepEqual([code, err], [1, ""]);
    match(out, /^FALSE: message 7: /);
    match(out, words);
  }
  equal((await verify([...TO, "--max-skew", "1.5"], GOOD)).code, 0);
});

Deno.test("verify ends with 3 for an unbound body, the line saying why and what to pass", async () => {
  const spaced = `{ "to": "${RECIPIENT.address}", "body": {"text": "hello"} }`;
  const files = { "request.json": spaced, "other.json": "{}" };
  const odd = message(RECIPIENT.address, spaced);
  const cases: [string[], unknown, RegExp][] = [
    [[], GOOD, /no recipient given, pass --to KEY/],
    [TO, odd, /pass --request FILE with the answer of GET \/v1\/messages\/ID\/signed-request/],
    [[...TO, "--request", "other.json"], odd, /--request is not this message's/],
    [["--request", "other.json"], odd, /pass --to KEY to try without it/],
    [TO, NULL_STRING, /canonical_string null.*no signed hash to bind it to/],
  ];
  for (const [args, input, words] of cases) {
    const { code, out } = await verify(args, input, { files });
    equal(code, 3);
    match(out, /^not bound: message 7: /);
    match(out, words);
  }
  equal((await verify([...TO, "--request", "request.json"], odd, { files })).code, 0);
  equal((await verify(["--request", "request.json"], odd, { files })).code, 0);
});

Deno.test("verify takes the recipient's handle and long word name", async () => {
  const handle = message("@some_agent");
  equal((await verify(TO, handle)).code, 3);
  match((await verify([...TO, "--to-handle", "@Some_Agent"], handle)).out, /addressed by handle/);
  const long = wordName(RECIPIENT.publicKey, 2);
  equal((await verify(TO, message(long))).code, 3);
  match((await verify([...TO, "--to-name", long], message(long))).out, /addressed by word-name/);
});

Deno.test("verify takes the recipient from the key file when --to is not given", async () => {
  const byDefault = { files: { "/me/.config/relay/key.json": KEY_FILE }, env: { HOME: "/me" } };
  equal((await verify([], GOOD, byDefault)).code, 0);
  equal((await verify([], GOOD, { env: { HOME: "/me" } })).code, 3);
  const byEnv = { files: { "my.json": KEY_FILE }, env: { HOME: "/me", RELAY_KEY_FILE: "my.json" } };
  equal((await verify([], GOOD, byEnv)).code, 0);
  equal((await verify(["--key", "my.json"], GOOD, { files: { "my.json": KEY_FILE } })).code, 0);
  equal((await verify(["--to-handle", "some_agent"], message("some_agent"), byDefault)).code, 0);
  equal((await verify(["--to", OTHER.address], GOOD, byDefault)).code, 3);
});

Deno.test("verify refuses a key file that is missing where it was named, or is none", async () => {
  equal((await verify(["--key", "gone.json"], GOOD)).code, 2);
  const wrong = [
    "",
    "[]",
    "null",
    keyFile(OTHER.address, RECIPIENT.privateKeyHex),
    keyFile(RECIPIENT.address, "secret"),
    KEY_FILE.replace('"version":1', '"version":2'),
  ];
  for (const file of wrong) {
    const { code, err } = await verify(["--key", "k.json"], GOOD, { files: { "k.json": file } });
    equal(code, 2);
    match(err, /'k\.json' is no key file/);
    equal(err.includes("secret") || err.includes(RECIPIENT.privateKeyHex), false);
  }
});

Deno.test("verify refuses options that are none", async () => {
  const wrong = [
    ["--from", "some_sender"],
    ["--to", "some_agent"],
    ["--to-handle", "some_agent"],
    [...TO, "--to-handle", "some-agent"],
    [...TO, "--to-name", wordName(OTHER.publicKey)],
    ["--max-skew", "-1"],
    ["--max-skew", "1e3"],
    ["--max-skew", ""],
    ["--request", "gone.json"],
  ];
  for (const args of wrong) {
    const { code, out } = await verify(args, GOOD);
    deepEqual([code, out], [2, ""], args.join(" "));
  }
});

Deno.test("verify names the option that is none as it was given", async () => {
  const told = async (...args: string[]) => (await verify([...TO, ...args], GOOD)).err;
  match(await told("--to-handle", "some-agent"), /^relay verify: --to-handle must be 3 to 32 of/);
  match(await told("--to-name", "a-b-c"), /^relay verify: --to-name is not a word name of the/);
  match((await verify(["--key", ""], GOOD)).err, /^relay verify: --key names no file/);
});

Deno.test("verify reports a single malformed message on stderr", async () => {
  for (const args of [[], ["--json"]]) {
    const { code, out, err } = await verify(args, MALFORMED);
    deepEqual([code, out], [2, ""]);
    equal(err, "relay verify: malformed: signature is missing: it must be a string\n");
  }
  equal((await verify([], "{")).code, 2);
  equal((await verify([], "")).code, 2);
  equal((await verify([], [])).code, 2);
  equal((await verify([], { messages: [] })).code, 2);
  equal((await verify([], "5")).code, 2);
});

Deno.test("verify gives every entry of a batch its line, a malformed one too", async () => {
  for (
    const input of [[GOOD, MALFORMED, FALSE], { messages: [GOOD, MALFORMED, FALSE], last_id: 7 }]
  ) {
    const { code, out, err } = await verify(TO, input);
    deepEqual([code, err], [1, ""]);
    const [good, malformed, wrong, end] = out.split("\n");
    match(good!, /^passed: /);
    equal(malformed, "malformed: signature is missing: it must be a string");
    match(wrong!, /^FALSE: /);
    equal(end, "");
  }
  const lines = [JSON.stringify(GOOD), "no json", JSON.stringify(GOOD)].join("\n");
  const { code, out } = await verify(TO, lines);
  equal(code, 2);
  equal(out.split("\n")[1], "malformed: expected a JSON value (line 1, column 1, byte 0)");
});

Deno.test("verify ends with the worst of a batch, in the order 1, 2, 3, 0", async () => {
  const worst = async (...input: unknown[]) => (await verify(TO, input)).code;
  equal(await worst(GOOD, GOOD), 0);
  equal(await worst(GOOD, NULL_STRING, GOOD), 3);
  equal(await worst(NULL_STRING, MALFORMED, GOOD), 2);
  equal(await worst(NULL_STRING, MALFORMED, FALSE, GOOD), 1);
  equal(await worst(FALSE, MALFORMED), 1);
  equal(await worst(MALFORMED, 5), 2);
});

Deno.test("verify --json prints one object a message", async () => {
  const { code, out } = await verify([...TO, "--json"], [GOOD, MALFORMED]);
  equal(code, 2);
  const [good, malformed] = out.trim().split("\n").map((line) => JSON.parse(line));
  deepEqual(good, {
    index: 0,
    report: {
      canonicalString: "ok",
      signature: "valid",
      sender: "not-pinned",
      contentHash: "match",
      body: "bound",
      addressee: "key",
      age: { signedAt: "2025-10-09T08:53:20.000Z", skewSeconds: 1.5, within: null },
    },
  });
  deepEqual(malformed, {
    index: 1,
    error: {
      code: "malformed_message",
      message: "signature is missing: it must be a string",
    },
  });
  const lines = `{"a":1,"a":1}\n${JSON.stringify(GOOD)}`;
  const strict = JSON.parse((await verify(["--json"], lines)).out.split("\n")[0]!);
  deepEqual([strict.index, strict.error.code], [0, "duplicate_name"]);
});
