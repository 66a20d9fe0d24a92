import assert from "node:assert/strict";
import { decodeAnswer, encodeQuestion } from "./dns_message.ts";

const QUESTION = { id: 0x1234, name: "example.org", type: "TXT" } as const;

/** An answer to the question, with the bytes of its records. */
function answer(records: number[][], flags = 0x8180): Uint8Array {
  const question = encodeQuestion(QUESTION.id, QUESTION.name, QUESTION.type)!;
  const bytes = Uint8Array.from([...question, ...records.flat()]);
  bytes.set([flags >> 8, flags & 0xff], 2);
  bytes[7] = records.length;
  return bytes;
}

/** Its owner is a pointer to the name that was asked for. */
const record = (
  type: number,
  data: number[],
) => [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 9, 0, data.length, ...data];
const decode = (bytes: Uint8Array) => decodeAnswer(bytes, QUESTION, 3);

Deno.test("encodeQuestion() writes the name, the type and the wish for recursion", () => {
  assert.deepEqual(
    [...encodeQuestion(0x1234, "a.example", "AAAA")!],
    [
      0x12,
      0x34,
      1,
      0,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      0,
      1,
      97,
      7,
      ...new TextEncoder().encode("example"),
      0,
      0,
      28,
      0,
      1,
    ],
  );
});

Deno.test("encodeQuestion() takes what is a name alone", () => {
  for (
    const name of ["", ".", "a..b", ".a", "a.", "a b.c", "\u00fc.example", `${"a".repeat(64)}.b`]
  ) {
    assert.equal(encodeQuestion(1, name, "A"), null, name);
  }
  const long = Array.from({ length: 4 }, () => "a".repeat(62)).join(".");
  assert.notEqual(encodeQuestion(1, `${long}a`, "A"), null);
  assert.equal(encodeQuestion(1, `${long}.aaa`, "A"), null);
});

Deno.test("decodeAnswer() joins no texts, keeps bytes as characters, and bounds the records", () => {
  const text = record(16, [2, 97, 98, 1, 0xfc]);
  assert.deepEqual(decode(answer([text])), { records: [["ab", "\u00fc"]] });
  const many = decode(answer([text, text, text, text]));
  assert.ok(many !== null && "records" in many);
  assert.equal(many.records.length, 3);
});

Deno.test("decodeAnswer() tells why there are no records", () => {
  const codes: [number, string][] = [
    [0x8180, "ENODATA"],
    [0x8183, "ENOTFOUND"],
    [0x8182, "ESERVFAIL"],
    [0x8185, "EREFUSED"],
    [0x8184, "ESERVFAIL"],
  ];
  for (const [flags, code] of codes) assert.deepEqual(decode(answer([], flags)), { code });
});

Deno.test("decodeAnswer() takes no answer to another question, and none that was cut", () => {
  const good = answer([record(16, [1, 97])]);
  assert.ok(decode(good) !== null);
  const other = (change: (bytes: Uint8Array) => void) => {
    const bytes = good.slice();
    change(bytes);
    return decode(bytes);
  };
  assert.equal(other((bytes) => bytes[0]! ^= 1), null, "another id");
  assert.equal(other((bytes) => bytes[2]! &= 0x7f), null, "a question");
  assert.equal(other((bytes) => bytes[2]! |= 2), null, "cut");
  assert.equal(other((bytes) => bytes[5] = 0), null, "no question");
  assert.equal(other((bytes) => bytes[13] = 120), null, "another name");
  assert.equal(other((bytes) => bytes[26] = 1), null, "another type");
  assert.ok(other((bytes) => bytes[13]! ^= 32) !== null, "capitals");
});

Deno.test("decodeAnswer() follows aliases, and no circle of them", () => {
  const alias = record(5, [1, 98, 0]);
  const target = [1, 98, ...record(16, [1, 97]).slice(1)];
  target.splice(2, 1, 0);
  assert.deepEqual(decode(answer([alias, target])), { records: [["a"]] });
  const circle = record(5, [0xc0, 12]);
  assert.deepEqual(decode(answer([circle])), { code: "ENODATA" });
});

Deno.test("decodeAnswer() survives every cut and every byte changed", () => {
  const good = answer([record(16, [3, 97, 98, 99]), record(5, [0xc0, 12]), record(16, [1, 97])]);
  const seen = new Set<string>();
  for (let size = 0; size < good.length; size++) assert.equal(decode(good.subarray(0, size)), null);
  for (let i = 0; i < good.length; i++) {
    for (const byte of [0, 1, 63, 64, 128, 192, 255]) {
      const bytes = good.slice();
      bytes[i] = byte;
      seen.add(decode(bytes) === null ? "refused" : "read");
    }
  }
  assert.deepEqual([...seen].sort(), ["read", "refused"]);
  const forward = answer([[0xc0, 200, 0, 16, 0, 1, 0, 0, 0, 9, 0, 2, 1, 97]]);
  assert.equal(decode(forward), null, "a pointer forward");
});
