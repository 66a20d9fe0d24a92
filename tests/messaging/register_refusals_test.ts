/** POST /v1/register: every refusal, and which one stands first. */
import assert from "node:assert/strict";
import { encodeAddress } from "../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { register, registerAgent, TestAgent } from "../support/test_agent.ts";

Deno.test("register refuses bodies that are no JSON object with invalid_json", async () => {
  await using relay = await startTestRelay();
  const before = await listRows(relay.deps.kv);
  const { address } = new TestAgent(relay);
  const valid = `"handle":"alice","pubkey":"${address}"`;
  for (
    const body of [
      "",
      " ",
      "null",
      "[]",
      '"x"',
      "7",
      "{",
      `{${valid}`,
      `{${valid}}}`,
      `{${valid},}`,
      `{${valid},"handle":"bob"}`,
      `{${valid},"\\u0068andle":"bob"}`,
      `\ufeff{${valid}}`,
      `{${valid},"x":"\\ud800"}`,
      `{${valid},"x":9007199254740992}`,
      `{${valid},"x":1e400}`,
      `{${valid},"x":${"[".repeat(65)}${"]".repeat(65)}}`,
      `{'handle':'alice'}`,
      `{${valid}} // comment`,
      `{${valid},"x":NaN}`,
    ]
  ) assertRefused(await register(relay, body), "invalid_json");
  const latin1 = new Uint8Array([...new TextEncoder().encode(`{${valid},"x":"`), 0xe9, 0x22, 0x7d]);
  assertRefused(await register(relay, latin1), "invalid_json", /UTF-8/);
  assert.deepEqual(await listRows(relay.deps.kv), before);
});

Deno.test("register names the field of a wrong type, a missing one or one that is too long", async () => {
  await using relay = await startTestRelay();
  const { address: pubkey } = new TestAgent(relay);
  const valid = { handle: "alice", pubkey };
  const cases: [RegExp, Record<string, unknown>][] = [
    [/^handle is required/, { pubkey }],
    [/^pubkey is required/, { handle: "alice" }],
    [/^display_name .* 100/, { ...valid, display_name: "x".repeat(101) }],
    [/^display_name .* 100/, { ...valid, display_name: "\u{1F600}".repeat(101) }],
    [/^description .* 500/, { ...valid, description: "x".repeat(501) }],
    [/^tags must be an array/, { ...valid, tags: "a" }],
    [/^tags must be an array/, { ...valid, tags: { 0: "a", length: 1 } }],
    [/^tags\[1\]/, { ...valid, tags: ["a", 1] }],
    [/^tags\[0\]/, { ...valid, tags: [""] }],
    [/^tags\[0\]/, { ...valid, tags: ["a b"] }],
    [/^tags\[0\]/, { ...valid, tags: ["a_b"] }],
    [/^tags\[0\]/, { ...valid, tags: ["a".repeat(33)] }],
    [/^tags\[0\]/, { ...valid, tags: [null] }],
  ];
  for (const value of [null, 1, true, ["alice"], {}]) {
    cases.push([/^handle (must be a string|is required)/, { ...valid, handle: value }]);
    cases.push([/^pubkey (must be a string|is required)/, { ...valid, pubkey: value }]);
  }
  for (const value of [1, true, [], {}]) {
    cases.push([/^display_name must be a string/, { ...valid, display_name: value }]);
    cases.push([/^description must be a string/, { ...valid, description: value }]);
  }
  const hidden = [0x00, 0x1f, 0x7f, 0x80, 0x9f, 0x2028, 0x2029, 0x61c, 0x200e, 0x200f, 0x202a];
  for (const code of [...hidden, 0x202e, 0x2066, 0x2069]) {
    const text = `a${String.fromCharCode(code)}b`;
    cases.push([/^display_name/, { ...valid, display_name: text }]);
    cases.push([/^description/, { ...valid, description: text }]);
  }
  for (const text of ["a\nb", "a\tb"]) {
    cases.push([/^display_name/, { ...valid, display_name: text }]);
  }
  cases.push([/^description/, { ...valid, description: "a\rb" }]);
  for (const [message, request] of cases) {
    assertRefused(await register(relay, JSON.stringify(request)), "invalid_json", message);
  }
});

Deno.test("register takes only keys that name one point of full order in one way", async () => {
  await using relay = await startTestRelay();
  const { address, keys } = new TestAgent(relay);
  const smallOrder = new Uint8Array(32).fill(0xff);
  smallOrder[0] = 0xec;
  smallOrder[31] = 0x7f; // y = p - 1: order 2
  const notCanonical = new Uint8Array(32).fill(0xff); // y = 2^255 - 1 >= p
  const noPoint = new Uint8Array(32);
  noPoint[0] = 2; // y = 2 is on no point of the curve
  // The base58 of 32 bytes can be as short as 32 ones: such keys are refused, lest they look like handles.
  const all = {
    "of 31 bytes": encodeUnchecked(keys.publicKey.subarray(1)),
    "of 33 bytes": encodeUnchecked(new Uint8Array([7, ...keys.publicKey])),
    "small order": encodeUnchecked(smallOrder),
    "identity": encodeUnchecked(new Uint8Array([1, ...new Uint8Array(31)])),
    "not canonical": encodeUnchecked(notCanonical),
    "no point": encodeUnchecked(noPoint),
    "32 ones": "1".repeat(32),
    "leading one": `1${address}`,
    "bad letter": `${address.slice(0, -1)}0`,
    "with space": ` ${address}`,
    "empty": "",
    "long": "z".repeat(10_000),
    "hex": [...keys.publicKey].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  };
  for (const [name, pubkey] of Object.entries(all)) {
    const answer = await register(relay, { handle: "alice", pubkey });
    assert.equal(answer.json.error?.code, "invalid_pubkey", name);
    assertRefused(answer, "invalid_pubkey", /32-byte/);
  }
  assert.equal(encodeUnchecked(keys.publicKey), encodeAddress(keys.publicKey));
});

Deno.test("register refuses in order: size, JSON, types, handle, key, proof, reserved, limit, taken", async () => {
  await using relay = await startTestRelay({ limits: { registrationsPerIpPerHour: 1 } });
  const { address } = await registerAgent(relay, "taken");
  const proofOfOther = new TestAgent(relay).sign("POST", "/v1/register");
  const bad = {
    json: `{"handle":1,"handle":2,"pubkey":3}`,
    type: `{"handle":"!","pubkey":"!","tags":1}`,
    handle: `{"handle":"!","pubkey":"!"}`,
    key: `{"handle":"admin","pubkey":"!"}`,
    proof: `{"handle":"admin","pubkey":"${address}"}`,
  };
  const huge = `{"handle":1,${" ".repeat(262_144)}`;
  assertRefused(await register(relay, huge, proofOfOther), "payload_too_large");
  assertRefused(await register(relay, bad.json, proofOfOther), "invalid_json", /twice/);
  assertRefused(await register(relay, bad.type, proofOfOther), "invalid_json", /tags/);
  assertRefused(await register(relay, bad.handle, proofOfOther), "invalid_handle");
  assertRefused(await register(relay, bad.key, proofOfOther), "invalid_pubkey");
  assertRefused(await register(relay, bad.proof, proofOfOther), "invalid_signature");
  assertRefused(await register(relay, bad.proof), "reserved_handle");
  const taken = { handle: "taken", pubkey: address };
  assertRefused(await register(relay, taken), "rate_limited");
  relay.clock.advance(3_600_000);
  assertRefused(await register(relay, taken), "handle_taken");
});

Deno.test("register tells which of handle and key is taken, also in capitals", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const other = new TestAgent(relay);
  assertRefused(await other.askToRegister({ handle: "@ALICE" }), "handle_taken", /^the handle/);
  assertRefused(await agent.askToRegister({ handle: "alice_2" }), "handle_taken", /^the pubkey/);
  const again = await agent.askToRegister({ handle: "alice" });
  assertRefused(again, "handle_taken", /^the handle and the pubkey .*GET \/v1\/whoami/);
  assertStatus(await agent.call("GET", "/v1/agents/alice"), 200);
  assertRefused(await agent.call("GET", "/v1/agents/alice_2"), "not_found");
});

/** base58 as Bitcoin writes it, of any bytes: what encodeAddress refuses to write. */
function encodeUnchecked(bytes: Uint8Array): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  for (; value > 0n; value /= 58n) text = alphabet[Number(value % 58n)] + text;
  return "1".repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}
