import assert from "node:assert/strict";
import { isDraftToken, isTokenOf, type LinkKind, linkToken, openLinkToken } from "./link_token.ts";

const KEY = new Uint8Array(32).fill(7);
const ID = "01KT1GW6G0WEGMHY6P9JBQ54A0";
const KINDS: readonly LinkKind[] = ["magic", "claim", "restore"];

Deno.test("openLinkToken() opens a token for its own kind alone, under its own key", () => {
  for (const kind of KINDS) {
    const token = linkToken(KEY, kind, ID);
    assert.match(token, /^01KT1GW6G0WEGMHY6P9JBQ54A0\.[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(openLinkToken(KEY, token, KINDS), { kind, id: ID });
    const others = KINDS.filter((other) => other !== kind);
    assert.equal(openLinkToken(KEY, token, others), null);
    assert.equal(openLinkToken(new Uint8Array(32), token, KINDS), null);
  }
});

Deno.test("linkToken() is the HMAC-SHA-256 over kind NUL id NUL revision, to the byte", async () => {
  const usage = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", KEY, usage, false, ["sign"]);
  const signed = new TextEncoder().encode(`claim\0${ID}\0`);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  const text = btoa(String.fromCharCode(...mac)).replaceAll("+", "-").replaceAll("/", "_");
  assert.equal(linkToken(KEY, "claim", ID), `${ID}.${text.replace("=", "")}`);
});

Deno.test("openLinkToken() takes one spelling of a token, and no other id with its HMAC", () => {
  const token = linkToken(KEY, "magic", ID);
  const mac = token.slice(27);
  const loose = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = loose[loose.indexOf(mac.at(-1)!) ^ 1]!;
  for (
    const other of [
      "",
      ".",
      ID,
      mac,
      `${ID}.`,
      `${ID}.${mac}=`,
      `${ID}.${mac}.`,
      ` ${token}`,
      `${token}\n`,
      token.toLowerCase(),
      // The same bytes to a decoder of base64.
      `${ID}.${mac.slice(0, -1)}${last}`,
      `${ID.slice(0, -1)}1.${mac}`,
      `${ID}\0.${mac}`,
      "\u00e9".repeat(70),
    ]
  ) assert.equal(openLinkToken(KEY, other, KINDS), null, JSON.stringify(other));
});

Deno.test("isDraftToken() takes the token of a draft's very revision, and no other kind's", () => {
  const token = linkToken(KEY, "draft", ID, "2");
  assert.ok(isDraftToken(KEY, token, ID, 2));
  assert.ok(!isDraftToken(KEY, token, ID, 1));
  assert.ok(!isDraftToken(KEY, token, ID, 22));
  assert.ok(!isDraftToken(new Uint8Array(32), token, ID, 2));
  assert.ok(!isDraftToken(KEY, token, ID.replace("G0", "G1"), 2));
  for (const wrong of ["", token.slice(0, -1), `${token}=`, linkToken(KEY, "magic", ID)]) {
    assert.ok(!isDraftToken(KEY, wrong, ID, 2), wrong);
  }
  assert.equal(openLinkToken(KEY, linkToken(KEY, "draft", ID), KINDS), null);
  assert.ok(isTokenOf(ID, token) && !isTokenOf("x", token) && !isTokenOf(ID, ID));
});
