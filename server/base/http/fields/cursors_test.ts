import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { canonicalJson } from "../../../../toolkit/canonical_json.ts";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { RelayError } from "../../errors.ts";
import { type CursorContext, type CursorKey, Cursors, MAX_CURSOR_LENGTH } from "./cursors.ts";

const SECRET = new Uint8Array(32).fill(7);
const CONTEXT = {
  org: "org_1",
  path: "/v1/mail/messages",
  filters: { direction: "inbound", unread: true },
  order: "desc",
};
const cursors = new Cursors(SECRET);

function refused(cursor: string, context: CursorContext = CONTEXT, by = cursors): void {
  assert.throws(
    () => by.open(cursor, context),
    (error) => error instanceof RelayError && error.code === "invalid_json",
  );
}

const scalar = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.boolean(),
  fc.constant(null),
);
const name = fc.string({ minLength: 1, maxLength: 8 }).filter((text) =>
  !["v", "key", "__proto__"].includes(text)
);
const contexts = fc.dictionary(
  name,
  fc.oneof(scalar, fc.dictionary(name, scalar, { maxKeys: 3, noNullPrototype: true })),
  { maxKeys: 5, noNullPrototype: true },
) as fc.Arbitrary<CursorContext>;
const keys: fc.Arbitrary<CursorKey> = fc.array(
  fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.maxSafeInteger()),
  { maxLength: 4 },
);

Deno.test("Cursors: a cursor is base64url of canonical JSON and its HMAC-SHA-256", () => {
  const json = '{"filters":{"direction":"inbound","unread":true},"key":[1700000000000,"msg_1"],' +
    '"order":"desc","org":"org_1","path":"/v1/mail/messages","v":1}';
  const mac = createHmac("sha256", SECRET).update(`cursor\n${json}`).digest();
  const expected = Buffer.concat([Buffer.from(json), mac]).toString("base64url");
  assert.equal(cursors.issue(CONTEXT, [1_700_000_000_000, "msg_1"]), expected);
});

Deno.test("Cursors.open() gives the key back that was issued for the same context", () => {
  fc.assert(fc.property(contexts, keys, fc.uint8Array({ minLength: 32, maxLength: 32 }), (
    context,
    key,
    secret,
  ) => {
    const cursor = new Cursors(secret).issue(context, key);
    assert.match(cursor, /^[A-Za-z0-9_-]+$/);
    const reordered = Object.fromEntries(Object.entries(context).reverse()) as CursorContext;
    assert.deepEqual(new Cursors(secret).open(cursor, reordered), key);
  }));
});

Deno.test("Cursors.open() refuses a cursor with any bit flipped", () => {
  const bytes = Buffer.from(cursors.issue(CONTEXT, [17, "msg_1"]), "base64url");
  assert.ok(bytes.length > 32);
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    refused(flipped.toString("base64url"));
  }
});

Deno.test("Cursors.open() refuses every other text of the same bytes", () => {
  for (const id of ["a", "ab", "abc"]) { // of each length modulo 3
    const cursor = cursors.issue(CONTEXT, [id]);
    assert.deepEqual(cursors.open(cursor, CONTEXT), [id]);
    const last = cursor.at(-1)!;
    const others = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];
    for (const other of others) if (other !== last) refused(cursor.slice(0, -1) + other);
    for (const end of ["=", "==", "A", " ", "\n", "\0", "."]) refused(cursor + end);
    refused(` ${cursor}`);
    refused(cursor.slice(0, -1));
    refused(`${cursor.slice(0, 9)}\n${cursor.slice(9)}`);
  }
  const plain = ["-", "_"].map((letter) => {
    for (let n = 0;; n++) {
      const cursor = cursors.issue(CONTEXT, [n]);
      if (cursor.includes(letter)) return cursor;
    }
  });
  for (const cursor of plain) refused(cursor.replaceAll("-", "+").replaceAll("_", "/"));
});

Deno.test("Cursors.open() refuses what was never issued", () => {
  refused("");
  refused("A".repeat(43)); // an HMAC alone
  refused("A".repeat(MAX_CURSOR_LENGTH));
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => refused(text)));
  fc.assert(fc.property(fc.base64String({ maxLength: 200 }), (text) => refused(text)));
});

Deno.test("Cursors.open() refuses a cursor of another context", () => {
  const cursor = cursors.issue(CONTEXT, [17]);
  const others: CursorContext[] = [
    {},
    { ...CONTEXT, org: "org_2" },
    { ...CONTEXT, path: "/v1/mail/threads" },
    { ...CONTEXT, filters: {} },
    { ...CONTEXT, filters: { direction: "inbound" } },
    { ...CONTEXT, filters: { ...CONTEXT.filters, unread: "true" } },
    { ...CONTEXT, filters: { ...CONTEXT.filters, label: "" } },
    { ...CONTEXT, order: "asc" },
    { ...CONTEXT, scope: null },
  ];
  for (const other of others) refused(cursor, other);
  fc.assert(fc.property(contexts, contexts, keys, (one, other, key) => {
    fc.pre(canonicalJson(one) !== canonicalJson(other));
    refused(cursors.issue(one, key), other);
  }));
});

Deno.test("Cursors.open() refuses a cursor under another secret", () => {
  refused(cursors.issue(CONTEXT, [17]), CONTEXT, new Cursors(new Uint8Array(32).fill(8)));
});

Deno.test("Cursors are bounded: a longer one is refused, and never issued", () => {
  assert.throws(() => cursors.issue(CONTEXT, ["x".repeat(4_000)]), RangeError);
  refused("A".repeat(MAX_CURSOR_LENGTH + 1));
});
