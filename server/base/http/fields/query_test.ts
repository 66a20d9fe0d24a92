import assert from "node:assert/strict";
import { choice, flag, integer, readQuery, text } from "./query.ts";
import { RelayError } from "../../errors.ts";
import fc from "../../../../tests/support/seeded_fast_check.ts";

const POLL = {
  since_id: integer(0, 2 ** 53 - 1, 0),
  limit: integer(1, 200, 50),
  unread: flag(),
  q: text(),
  before_id: integer(1, 2 ** 53 - 1, undefined),
  period: choice(["24h", "7d"], "24h"),
};

function assertRefused(query: string, message: RegExp): void {
  assert.throws(() => readQuery(query, POLL), (error: unknown) => {
    assert.ok(error instanceof RelayError);
    assert.equal(error.code, "invalid_json");
    assert.match(error.message, message);
    return true;
  }, query);
}

Deno.test("readQuery() gives the absent values for an empty query", () => {
  assert.deepEqual(readQuery("", POLL), {
    since_id: 0,
    limit: 50,
    unread: false,
    q: undefined,
    before_id: undefined,
    period: "24h",
  });
});

Deno.test("readQuery() reads, decodes and ignores what it does not know", () => {
  const query = "&since_id=7&x=%zz&limit=20&unread=true&q=a+b%2B%C3%A9&x=2&period=7d&&";
  assert.deepEqual(readQuery(query, POLL), {
    since_id: 7,
    limit: 20,
    unread: true,
    q: "a b+é",
    before_id: undefined,
    period: "7d",
  });
  assert.equal(readQuery("q=a=b", POLL).q, "a=b");
  assert.equal(readQuery("q", POLL).q, "");
  assert.equal(readQuery("%6cimit=3", POLL).limit, 3);
});

Deno.test("readQuery() is not misled by parameters named like members of every object", () => {
  assert.deepEqual(readQuery("__proto__=1&constructor=2&toString=3", POLL), readQuery("", POLL));
});

Deno.test("integer() clamps into its bounds without losing precision", () => {
  const since = (value: string) => readQuery(`since_id=${value}`, POLL).since_id;
  assert.equal(since("-0"), 0);
  assert.ok(Object.is(since("-0"), 0));
  assert.equal(since("-5"), 0);
  assert.equal(since("00000000000000000012"), 12);
  assert.equal(since("9007199254740990"), 2 ** 53 - 2);
  assert.equal(since("9007199254740991"), 2 ** 53 - 1);
  assert.equal(since("9007199254740993"), 2 ** 53 - 1);
  assert.equal(since("99999999999999999999"), 2 ** 53 - 1);
  assert.equal(since("-99999999999999999999"), 0);
  assert.equal(readQuery("limit=0", POLL).limit, 1);
  assert.equal(readQuery("limit=201", POLL).limit, 200);
  assert.equal(readQuery("before_id=0", POLL).before_id, 1);
});

Deno.test("integer() clamps every integer of at most 20 digits as exact arithmetic does", () => {
  const bound = 10n ** 20n - 1n;
  fc.assert(fc.property(fc.bigInt(-bound, bound), (value) => {
    const max = 2n ** 53n - 1n;
    const expected = value < 0n ? 0n : value > max ? max : value;
    assert.equal(BigInt(readQuery(`since_id=${value}`, POLL).since_id), expected);
  }));
});

Deno.test("integer() refuses whatever is no integer of 1 to 20 digits", () => {
  for (
    const value of [
      "",
      "-",
      "+1",
      "1.0",
      "1e3",
      "0x1",
      " 1",
      "1 ",
      "%201",
      "1%0A",
      "١",
      "NaN",
      "123456789012345678901",
    ]
  ) assertRefused(`limit=${value}`, /query parameter limit must be an integer .* from 1 to 200/);
  assertRefused("limit", /limit must be an integer/);
});

Deno.test("flag() and choice() take their words only", () => {
  assert.equal(readQuery("unread=false", POLL).unread, false);
  for (const value of ["", "1", "TRUE", "yes"]) {
    assertRefused(`unread=${value}`, /query parameter unread must be true or false/);
  }
  assertRefused("period=1h", /query parameter period must be one of 24h, 7d/);
});

Deno.test("readQuery() refuses a known parameter given twice, equal values included", () => {
  assertRefused("limit=1&limit=1", /query parameter limit is given more than once/);
  assertRefused("q=a&%71=b", /query parameter q is given more than once/);
});

Deno.test("readQuery() refuses malformed escapes and invalid UTF-8, naming the parameter", () => {
  for (const value of ["%", "%z1", "%c3", "%ff", "%ed%a0%80"]) {
    assertRefused(`q=${value}`, /query parameter q must be percent-encoded UTF-8/);
  }
});

Deno.test("readQuery() throws nothing but RelayError, whatever the query", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (query) => {
    try {
      readQuery(query, POLL);
    } catch (error) {
      assert.ok(error instanceof RelayError);
    }
  }));
});
