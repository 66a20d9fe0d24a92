import assert from "node:assert/strict";
import { createTestClock } from "../../../../tests/support/clock.ts";
import {
  type GoogleIssuer,
  jwkSet,
  makeSigningKey,
  startGoogleIssuer,
} from "../../../../tests/support/google_issuer.ts";
import { RelayError } from "../../../base/errors.ts";
import { GoogleKeys } from "./google_keys.ts";

const HOUR_MS = 3_600_000;

function keysOf(issuer: Pick<GoogleIssuer, "url">, timeLimitMs = 20_000) {
  const clock = createTestClock();
  const keys = new GoogleKeys({ url: issuer.url, fetch, now: clock.now, timeLimitMs });
  return { clock, keys };
}

/** The failure of find() where it cannot be known whether the key exists. */
async function failureOf(keys: GoogleKeys, keyId = "key-1"): Promise<string> {
  try {
    await keys.find(keyId);
  } catch (error) {
    assert.ok(error instanceof RelayError);
    assert.equal(error.code, "internal");
    assert.match(error.message, /try again/);
    return String((error.cause as Error).message);
  }
  throw new assert.AssertionError({ message: "the key was found, or found not to be" });
}

Deno.test("GoogleKeys finds the published keys, and asks again after an hour", async () => {
  await using issuer = await startGoogleIssuer();
  const { clock, keys } = keysOf(issuer);
  assert.equal(issuer.asked, 0);
  const key = await keys.find("key-1");
  assert.deepEqual([key?.type, key?.usages], ["public", ["verify"]]);
  clock.advance(HOUR_MS - 1);
  assert.equal(await keys.find("key-1"), key);
  assert.equal(issuer.asked, 1);
  clock.advance(1);
  assert.ok(await keys.find("key-1"));
  assert.equal(issuer.asked, 2);
});

Deno.test("GoogleKeys finds a new key at once, and an old one no more than an hour after it went", async () => {
  await using issuer = await startGoogleIssuer();
  const { clock, keys } = keysOf(issuer);
  assert.ok(await keys.find("key-1"));
  await issuer.rotate();
  clock.advance(30_000);
  assert.ok(await keys.find("key-1"), "no reason to ask yet");
  assert.ok(await keys.find("key-2"));
  assert.equal(await keys.find("key-1"), null);
  assert.equal(issuer.asked, 2);
  await issuer.rotate();
  clock.advance(HOUR_MS);
  assert.equal(await keys.find("key-2"), null);
  assert.equal(issuer.asked, 3);
});

Deno.test("GoogleKeys asks once in 30 s however many unknown ids come, and known ones stay known", async () => {
  await using issuer = await startGoogleIssuer();
  const { clock, keys } = keysOf(issuer);
  const flood = async (n: number) => {
    const found = await Promise.all(
      Array.from({ length: n }, (_, i) => keys.find(i % 2 === 0 ? `made-up-${i}` : "key-1")),
    );
    assert.equal(found.filter((key) => key !== null).length, n / 2);
  };
  await flood(1000);
  assert.equal(issuer.asked, 1, "those who come while it asks wait for the one answer");
  clock.advance(29_999);
  await flood(100);
  assert.equal(issuer.asked, 1);
  clock.advance(1);
  await flood(100);
  assert.equal(issuer.asked, 2);
  // A day of it: a request each 30 s at most.
  for (let i = 0; i < 100; i++) {
    clock.advance(1000);
    await keys.find(`later-${i}`);
  }
  assert.equal(issuer.asked, 2 + 3);
});

const BROKEN: Record<string, [() => Response | Promise<Response>, RegExp]> = {
  "a 500": [() => new Response("{}", { status: 500 }), /answered 500/],
  "a 404": [() => new Response("not here", { status: 404 }), /answered 404/],
  "no content": [() => new Response(null, { status: 204 }), /answered 204/],
  "a redirect": [
    () => new Response(null, { status: 302, headers: { Location: "http://127.0.0.1:1/" } }),
    /redirect/i,
  ],
  "a page": [() => new Response("<html>sign in to the network</html>"), /JSON|token/i],
  "half a set": [() => new Response('{"keys":[{"kty":"RSA"'), /JSON/i],
  "no set": [() => Response.json({ error: "no" }), /no JWK set/],
  "null": [() => Response.json(null), /no JWK set/],
  "an empty set": [() => Response.json({ keys: [] }), /no key for RS256/],
  "a set of other things": [
    () => Response.json({ keys: [null, 1, [], {}, { kty: "EC", kid: "key-1" }] }),
    /no key for RS256/,
  ],
  "a set without an end": [() => new Response(endless()), /larger than 65536 bytes/],
};

/** Spaces, before which no JSON ends. */
function endless(): ReadableStream<Uint8Array> {
  const piece = new TextEncoder().encode(" ".repeat(16_384));
  return new ReadableStream({ pull: (controller) => controller.enqueue(piece) });
}

for (const [what, [answer, cause]] of Object.entries(BROKEN)) {
  Deno.test(`GoogleKeys met by ${what} says that nobody knows, and asks again 5 s later`, async () => {
    await using issuer = await startGoogleIssuer();
    const { clock, keys } = keysOf(issuer);
    issuer.answer = answer;
    assert.match(await failureOf(keys), cause);
    issuer.answer = null;
    clock.advance(4_999);
    assert.match(await failureOf(keys), cause);
    assert.equal(issuer.asked, 1);
    clock.advance(1);
    assert.ok(await keys.find("key-1"));
    assert.equal(issuer.asked, 2);
  });
}

Deno.test("GoogleKeys does not take an unknown id for a bad one while the keys cannot be had", async () => {
  await using issuer = await startGoogleIssuer();
  const { clock, keys } = keysOf(issuer);
  assert.ok(await keys.find("key-1"));
  issuer.answer = () => new Response("", { status: 503 });
  assert.equal(await keys.find("key-2"), null, "30 s are not over: nobody is asked");
  clock.advance(30_000);
  await failureOf(keys, "key-2");
  assert.ok(await keys.find("key-1"), "what is known and fresh goes on");
  clock.advance(2_000);
  await failureOf(keys, "key-2");
  assert.equal(issuer.asked, 2);
  clock.advance(HOUR_MS);
  await failureOf(keys, "key-1");
});

Deno.test("GoogleKeys that cannot connect says that nobody knows", async () => {
  const issuer = await startGoogleIssuer();
  const { keys } = keysOf(issuer);
  await issuer[Symbol.asyncDispose]();
  assert.match(await failureOf(keys), /connect|refused|error/i);
});

Deno.test("GoogleKeys waits no longer than its limit, for the head or for the rest", async () => {
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  await using issuer = await startGoogleIssuer();
  const { clock, keys } = keysOf(issuer, 50);
  issuer.answer = async () => {
    await never;
    return new Response("late");
  };
  assert.match(await failureOf(keys), /within 50 ms/);
  clock.advance(5_000);
  issuer.answer = () =>
    new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([0x7b])) }),
    );
  assert.match(await failureOf(keys), /within 50 ms/);
  end();
});

Deno.test("GoogleKeys.close() ends a fetch under way", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  await using issuer = await startGoogleIssuer();
  const { keys } = keysOf(issuer);
  issuer.answer = async () => {
    reach();
    await never;
    return new Response("late");
  };
  const failing = failureOf(keys);
  await reached;
  keys.close();
  assert.match(await failing, /abort/i);
  end();
});

Deno.test("GoogleKeys asks again when the clock has gone back", async () => {
  await using issuer = await startGoogleIssuer();
  const { clock, keys } = keysOf(issuer);
  assert.ok(await keys.find("key-1"));
  clock.advance(-10 * HOUR_MS);
  assert.ok(await keys.find("key-1"));
  assert.equal(issuer.asked, 2);
});

Deno.test("GoogleKeys leaves out keys of other kinds and uses, and small ones", async () => {
  await using issuer = await startGoogleIssuer();
  const { keys } = keysOf(issuer);
  const [good] = issuer.keys;
  const small = await makeSigningKey("small", 1024);
  const { d, p, q, dp, dq, qi } = await crypto.subtle.exportKey("jwk", good!.pair.privateKey);
  const { keys: [published] } = await jwkSet([good!]).json();
  issuer.answer = () =>
    Response.json({
      keys: [
        { ...published, kid: "bare", use: undefined, alg: undefined },
        { ...published, kid: "private", d, p, q, dp, dq, qi },
        { ...published, kid: "enc", use: "enc" },
        { ...published, kid: "rs512", alg: "RS512" },
        { ...published, kid: "no-modulus", n: undefined },
        { ...published, kid: "bad-modulus", n: "*" },
        { ...published, kid: 7 },
        { ...small.jwk, kid: "small" },
        { kty: "oct", kid: "secret", k: "c2VjcmV0", alg: "RS256" },
      ],
    });
  const found = [];
  for (
    const id of [
      "bare",
      "private",
      "enc",
      "rs512",
      "no-modulus",
      "bad-modulus",
      "7",
      "small",
      "secret",
    ]
  ) {
    const key = await keys.find(id);
    if (key !== null) found.push([id, key.type]);
  }
  assert.deepEqual(found, [["bare", "public"], ["private", "public"]]);
  assert.equal(issuer.asked, 1);
});
