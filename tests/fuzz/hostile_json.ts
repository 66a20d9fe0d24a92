/** Request bodies that a server must survive, made from a good one. */
import { canonicalJson, type JsonValue } from "../../toolkit/mod.ts";
import type { Random } from "../support/loose_json.ts";

type JsonObject = { [name: string]: JsonValue };
type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

export function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)]!;
}

export function nat(below: number, random: Random): number {
  return Math.floor(random() * below);
}

/** Numbers at and beyond the limits of programs. */
const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1.5",
  "1e-400",
  "9007199254740991",
  "9007199254740992",
  "18446744073709551616",
  "1e21",
  "1e308",
  "1e309",
  "-1e999999999",
  `1${"0".repeat(5_000)}`,
  `0.${"0".repeat(5_000)}1`,
  "01",
  "+1",
  "1.",
  ".1",
  "0x10",
  "1_000",
  "NaN",
  "Infinity",
  "1e",
  "--1",
];

/** Texts that have broken parsers, stores and log files. */
const TEXTS = [
  "",
  " ",
  "\u0000",
  "\ufeff",
  "\uffff",
  "\u2028\u2029",
  "\u202e",
  "\u{1F600}",
  "%00",
  "%2e%2e%2f",
  "../../etc/passwd",
  "${7*7}",
  "{{7*7}}",
  "' OR '1'='1",
  "<script>alert(1)</script>",
  "\r\nX-Injected: 1",
  "__proto__",
  "constructor",
  "null",
  "-1",
  "@",
  "@@",
  "-",
  "x".repeat(33),
  "x".repeat(101),
  "z".repeat(44),
  "a-".repeat(400),
  "x".repeat(70_000),
  "é".repeat(40_000),
];

/** Other JSON values in the place of any. */
const VALUES = [
  "null",
  "true",
  "false",
  "[]",
  "{}",
  "[[]]",
  '[""]',
  "[null]",
  '{"":""}',
  '{"length":3}',
  '{"toString":1}',
  '{"__proto__":null}',
];

const INVALID_UTF8 = [
  [0xff],
  [0xc3],
  [0xc0, 0xaf],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
];

type Mutation = (good: JsonObject, random: Random) => string | Bytes;

/** The body with one member replaced by a raw JSON text. */
function withMember(good: JsonObject, name: string, raw: string): string {
  const members = Object.entries(good).map(([key, value]) =>
    `${JSON.stringify(key)}:${key === name ? raw : canonicalJson(value)}`
  );
  if (!Object.hasOwn(good, name)) members.push(`${JSON.stringify(name)}:${raw}`);
  return `{${members.join()}}`;
}

function memberOf(good: JsonObject, random: Random): string {
  const names = Object.keys(good);
  return names.length === 0 || random() < 0.05 ? "extra" : pick(names, random);
}

function nested(depth: number, random: Random): string {
  return random() < 0.5
    ? "[".repeat(depth) + "]".repeat(depth)
    : `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

const DEPTHS = [64, 65, 66, 1_000, 30_000];

const MUTATIONS: readonly Mutation[] = [
  // Another value, type or size of one member.
  (good, random) => withMember(good, memberOf(good, random), pick(VALUES, random)),
  (good, random) => withMember(good, memberOf(good, random), pick(NUMBERS, random)),
  (good, random) => withMember(good, memberOf(good, random), JSON.stringify(pick(TEXTS, random))),
  (good, random) => withMember(good, memberOf(good, random), nested(pick(DEPTHS, random), random)),
  // The same inside a string that may be a document.
  (good, random) =>
    withMember(good, memberOf(good, random), JSON.stringify(nested(pick(DEPTHS, random), random))),
  (good, random) => withMember(good, memberOf(good, random), JSON.stringify(pick(NUMBERS, random))),
  // Escapes: lone surrogates, unknown ones, cut ones.
  (good, random) =>
    withMember(
      good,
      memberOf(good, random),
      pick(['"\\ud800"', '"\\x41"', '"\\u12"', '"\\"'], random),
    ),
  // One member twice, also in another spelling.
  (good, random) => {
    const name = memberOf(good, random);
    const again = random() < 0.5
      ? JSON.stringify(name)
      : `"\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}"`;
    return `${canonicalJson(good).slice(0, -1)},${JSON.stringify(name)}:1,${again}:2}`;
  },
  // One member missing.
  (good, random) => {
    const { [memberOf(good, random)]: _, ...rest } = good;
    return canonicalJson(rest);
  },
  (good) => withMember(good, "__proto__", '{"to":"x","handle":"y"}'),
  // Many members, many items.
  (good, random) =>
    withMember(good, "extra", `{${Array.from({ length: 5_000 }, (_, i) => `"${i}":${i}`).join()}}`)
      .slice(0, random() < 0.5 ? undefined : -1),
  (good, random) => withMember(good, memberOf(good, random), `[${"0,".repeat(50_000)}0]`),
  // No object at all.
  (_, random) =>
    pick(["", " ", "null", "[]", "[{}]", '"x"', "1", "{", "}", "\ufeff{}", "{}{}"], random),
  (good) => JSON.stringify([good]),
  (good) => `\ufeff${canonicalJson(good)}`,
  (good) => `${canonicalJson(good)}\u0000`,
  // Bytes: cut, flipped, inserted, of another encoding, of none.
  (good, random) => {
    const bytes = encoder.encode(canonicalJson(good));
    return bytes.slice(0, nat(bytes.length, random));
  },
  (good, random) => {
    const bytes = encoder.encode(canonicalJson(good));
    for (let i = 0; i < 1 + nat(3, random); i++) {
      bytes[nat(bytes.length, random)] = nat(256, random);
    }
    return bytes;
  },
  (good, random) => {
    const bytes = [...encoder.encode(canonicalJson(good))];
    bytes.splice(nat(bytes.length, random), 0, ...pick(INVALID_UTF8, random));
    return new Uint8Array(bytes);
  },
  (good) => new Uint8Array([...canonicalJson(good)].flatMap((c) => [c.charCodeAt(0) & 0xff, 0])),
  (_, random) => Uint8Array.from({ length: nat(300, random) }, () => nat(256, random)),
  (_, random) => "x".repeat(pick([262_143, 262_144, 262_145], random)),
];

/** A body that is most likely to be refused. */
export function hostileBody(good: JsonObject, random: Random): Bytes {
  const body = pick(MUTATIONS, random)(good, random);
  return typeof body === "string" ? encoder.encode(body) : body;
}
