import assert from "node:assert/strict";
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { scrypt } from "@noble/hashes/scrypt.js";
import { base64 } from "@scure/base";
import { generateKeyPair } from "../generate_key_pair.ts";
import type { JsonValue } from "../json_value.ts";
import { lockKey, readLockedKey, unlockKey } from "./locked_key.ts";

/** Costs nothing: what is tested here does not depend on it. */
const CHEAP = 4;

Deno.test("unlockKey() opens what lockKey() locked with the same passphrase, and no other", () => {
  const keys = generateKeyPair();
  const locked = lockKey(keys, "caf\u00e9 passphrase", CHEAP);
  assert.equal(JSON.stringify(locked).includes(keys.privateKeyHex), false);
  const opened = unlockKey(locked, keys.address, "cafe\u0301 passphrase");
  assert.equal(opened?.privateKeyHex, keys.privateKeyHex, "composed and decomposed letters");
  assert.equal(unlockKey(locked, keys.address, "other"), undefined);
  assert.equal(unlockKey(locked, keys.address, ""), undefined);
});

Deno.test("unlockKey() opens nothing that was changed", () => {
  const keys = generateKeyPair();
  const locked = lockKey(keys, "p", CHEAP);
  const flipped = (text: string) => (text.startsWith("A") ? "B" : "A") + text.slice(1);
  for (const name of ["salt", "nonce", "ciphertext"] as const) {
    const changed = { ...locked, [name]: flipped(locked[name]) };
    assert.equal(unlockKey(changed, keys.address, "p"), undefined, name);
  }
  assert.equal(unlockKey({ ...locked, log_n: CHEAP + 1 }, keys.address, "p"), undefined);
  assert.equal(unlockKey(locked, generateKeyPair().address, "p"), undefined);
});

Deno.test("lockKey() never repeats salt or nonce", () => {
  const keys = generateKeyPair();
  const [a, b] = [1, 2].map(() => lockKey(keys, "p", CHEAP));
  for (const name of ["salt", "nonce", "ciphertext"] as const) assert.notEqual(a![name], b![name]);
});

Deno.test("readLockedKey() takes what lockKey() gives, and bounds its cost", () => {
  const locked = lockKey(generateKeyPair(), "p", CHEAP);
  assert.deepEqual(readLockedKey(JSON.parse(JSON.stringify(locked))), locked);
  const wrong: JsonValue[] = [
    null,
    [],
    "x",
    { ...locked, scheme: "rot13" },
    { ...locked, log_n: 21 },
    { ...locked, log_n: 0 },
    { ...locked, log_n: 4.5 },
    { ...locked, salt: "AAAA" },
    { ...locked, nonce: "?" },
    { ...locked, ciphertext: null },
  ];
  for (const value of wrong) {
    assert.equal(readLockedKey(value), undefined, JSON.stringify(value));
  }
});

Deno.test("unlockKey() reads what another implementation of scrypt and XChaCha20 wrote", () => {
  const keys = generateKeyPair();
  const salt = new Uint8Array(16).fill(7);
  const nonce = new Uint8Array(24).fill(9);
  const key = scrypt("p", salt, { N: 2 ** CHEAP, r: 8, p: 1, dkLen: 32 });
  const address = new TextEncoder().encode(keys.address);
  const sealed = xchacha20poly1305(key, nonce, address).encrypt(keys.privateKey);
  const locked = {
    scheme: "scrypt-xchacha20-poly1305",
    log_n: CHEAP,
    salt: base64.encode(salt),
    nonce: base64.encode(nonce),
    ciphertext: base64.encode(sealed),
  } as const;
  assert.equal(unlockKey(locked, keys.address, "p")?.privateKeyHex, keys.privateKeyHex);
});
