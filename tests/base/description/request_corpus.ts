/** Requests, good and bad, that schemas and parsers must judge alike. */
import type { JsonValue } from "../../../toolkit/mod.ts";
import { EXAMPLE_PROFILE } from "../../../server/base/description/examples.ts";

type Body = { [name: string]: JsonValue };

const LONG = (count: number, character = "x") => character.repeat(count);
const TAGS = (count: number) => Array.from({ length: count }, (_, n) => `tag-${n}`);

/** Values of every JSON type. */
const ANY: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  2 ** 53 - 1,
  1e300,
  "",
  " ",
  "text",
  [],
  ["a"],
  [1],
  [null],
  {},
  { a: 1 },
];

/** Each field with each value, beside fields that are good. */
function vary(good: Body, fields: Readonly<Record<string, readonly JsonValue[]>>): Body[] {
  return Object.entries(fields).flatMap(([field, values]) => [
    Object.fromEntries(Object.entries(good).filter(([name]) => name !== field)),
    ...[...ANY, ...values].map((value) => ({ ...good, [field]: value })),
  ]);
}

const DISPLAY_NAMES: readonly JsonValue[] = [
  LONG(100),
  LONG(101),
  `  ${LONG(100)}\n`,
  LONG(100, "😀"),
  LONG(101, "😀"),
  "a\nb",
  "a\tb",
  "\na\t",
  "a\u0000b",
  "a\u007fb",
  "a\u0085b",
  "\u0085",
  "a\u2028b",
  "\u2028a",
  "a\u200eb",
  "a\u202eb",
  "a\u2066b",
  "a\u061cb",
  "a\u200db",
  "é😀漢",
];

const DESCRIPTIONS: readonly JsonValue[] = [
  ...DISPLAY_NAMES,
  LONG(500),
  LONG(501),
  `\t${LONG(500, "é")}\t`,
  LONG(500, "😀"),
  "a\rb",
  "a\r\nb",
  "line\n\tline",
];

const TAG_LISTS: readonly JsonValue[] = [
  ["a", "b-1", "---"],
  [" Spaced ", "UPPER"],
  ["a b"],
  ["a_b"],
  [""],
  [" "],
  ["é"],
  ["\u212a"],
  [LONG(32)],
  [LONG(33)],
  [` ${LONG(32)} `],
  TAGS(10),
  TAGS(11),
  [...TAGS(10), " TAG-1 ", "tag-2"],
  ["a", 1],
  ["a", null],
  ["a", ["b"]],
  "a,b",
];

const KEYS: readonly JsonValue[] = [
  EXAMPLE_PROFILE.address,
  ` ${EXAMPLE_PROFILE.address}`,
  EXAMPLE_PROFILE.address.toLowerCase(),
  EXAMPLE_PROFILE.address.slice(1),
  `${EXAMPLE_PROFILE.address}1`,
  `1${EXAMPLE_PROFILE.address}`,
  LONG(43, "1"),
  LONG(44, "z"),
  LONG(32, "1"),
  LONG(33, "1"),
  LONG(43, "0"),
  LONG(43, "é"),
  // A point of small order, or no point at all (RFC 8032, 5.1.3), as base58 of 32 bytes.
  "11111111111111111111111111111112",
  "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi",
];

/** For POST /v1/register. */
export const REGISTRATIONS: readonly Body[] = vary(
  { handle: "somebody", pubkey: EXAMPLE_PROFILE.address },
  {
    handle: [
      "abc",
      "ab",
      LONG(32),
      LONG(33),
      "@abc",
      `@${LONG(32)}`,
      "@@abc",
      "ABC_9",
      "a-b",
      "a b",
      "abc ",
      "é_é",
      "\u212aab",
      "a.b",
      "@ab",
    ],
    pubkey: KEYS,
    display_name: DISPLAY_NAMES,
    description: DESCRIPTIONS,
    tags: TAG_LISTS,
    unknown: [],
  },
);

/** For POST /v1/messages. */
export const SENDS: readonly Body[] = [
  ...vary({ to: "bob", body: "hello" }, {
    to: ["@bob", "no such agent at all", LONG(2000)],
    body: [LONG(65_534), LONG(65_535), LONG(32_767, "é"), LONG(32_768, "é"), { deep: [[[1]]] }],
    in_reply_to: [2, 2 ** 53 - 1, -0, 0.5, "1", 1e15, -(2 ** 53 - 1)],
    content_type: ["text", "json", "TEXT", "xml", " text"],
    unknown: [],
  }),
  ...vary({ to: "bob", body: "{}", content_type: "json" }, {
    body: [
      "{}",
      '{"a":[1,2.50,"\\u00e9"]}',
      " [1 , 2] ",
      "1",
      "null",
      '"text"',
      "text",
      "{",
      '{"a":1,"a":2}',
      "9007199254740992",
      "1e400",
      '"\\ud800"',
      "\ufeff{}",
      "[1,]",
      `"${LONG(65_534)}"`,
      `"${LONG(65_535)}"`,
      ` ${"[".repeat(64)}${"]".repeat(64)}`,
      `${"[".repeat(65)}${"]".repeat(65)}`,
    ],
    content_type: [],
  }),
];

/** For PATCH /v1/agents/me. */
export const PROFILE_UPDATES: readonly Body[] = [
  {},
  ...vary({}, {
    display_name: DISPLAY_NAMES,
    description: DESCRIPTIONS,
    tags: TAG_LISTS,
    notification_email: [
      "a@b.c",
      "a@b",
      "@b.c",
      "a@",
      " name@example.org ",
      "name+tag@sub.example.org",
      "a@b@c.d",
      "a b@c.d",
      "a,b@c.d",
      '"a"@b.c',
      "<a@b.c>",
      "é@b.c",
      "a@é.c",
      "a@b_c.d",
      "a@-.-",
      "a@b..c",
      "a@.b.c",
      `${LONG(64)}@b.c`,
      `${LONG(65)}@b.c`,
      `a@${LONG(63)}.c`,
      `a@${LONG(64)}.c`,
      `${LONG(64)}@${`${LONG(63)}.`.repeat(3)}${LONG(63)}`,
      `${LONG(64)}@${`${LONG(62)}.`.repeat(4)}cc`,
      `a@b.${Array.from({ length: 170 }, () => "c").join(".")}`,
    ],
    handle: [],
    pubkey: [],
    word_name: [],
    ["__proto__"]: [],
  }),
  { display_name: "a", description: "b", tags: [], notification_email: null },
  { display_name: "a", extra: 1 },
];

/** For POST /v1/admin/ban. */
export const BANS: readonly Body[] = [
  ...vary({}, { pubkey: KEYS, handle: ["bob", "@BOB", "@@bob", "bo", "b-b", LONG(33)] }),
  ...vary({ handle: "bob" }, { reason: [...DISPLAY_NAMES, LONG(200), LONG(201), LONG(200, "😀")] }),
  { pubkey: EXAMPLE_PROFILE.address, handle: "bob" },
  { pubkey: EXAMPLE_PROFILE.address, handle: null },
];

/** For POST /v1/admin/purge. */
export const PURGES: readonly Body[] = vary({}, { pubkey: KEYS, handle: [] });

const INTEGERS = ["", "0", "1", "-1", "007", "200", "201", "9".repeat(20), "9".repeat(21), "+1"]
  .concat(["1.0", "1e3", "0x1", "%201", "1%20", "٣", "-", "--1", "true", "null", "%2D5"]);

/** Query strings for a route that knows these parameters. */
export function queries(names: readonly string[]): string[] {
  return names.flatMap((name) => [
    "",
    name,
    `${name}&${name}=1`,
    `${name}=1&${name}=1`,
    `${name}=1&other=1&other=2`,
    ...[...INTEGERS, "false", "TRUE", "a", "a,b", ",", "a%20b", "%40abc", "%C3%A9"].map((value) =>
      `${name}=${value}`
    ),
    `${name}=${LONG(200)}`,
    `${name}=${LONG(201)}`,
    `${name}=%40${LONG(200)}`,
    `${name}=%20${LONG(200)}%20`,
    `${name}=${encodeURIComponent(LONG(200, "😀"))}`,
    `${name}=${encodeURIComponent(LONG(201, "😀"))}`,
    `${name}=${TAGS(10).join()}`,
    `${name}=${TAGS(11).join()}`,
    `${name}=${[...TAGS(10), "tag-1", "TAG-2", ""].join()}`,
    `${name}=${LONG(32)},${LONG(33)}`,
  ]);
}
