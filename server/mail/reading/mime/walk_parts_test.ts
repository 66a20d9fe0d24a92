import assert from "node:assert/strict";
import type { ParseWarning } from "../parsed/parsed_mail.ts";
import { MAX_HEAD_BYTES, walkParts } from "./walk_parts.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

function walk(text: string, limits = { parts: 5, depth: 3 }) {
  const raw = new TextEncoder().encode(text);
  const warnings = new Set<ParseWarning>();
  const parts = toEnd(walkParts(raw, limits, warnings));
  const bodies = parts.map((part) => new TextDecoder().decode(raw.subarray(part.start, part.end)));
  return { parts, bodies, warnings: [...warnings] };
}

const flat = (count: number) =>
  `Content-Type: multipart/mixed; boundary=b\n\n${
    Array.from({ length: count }, (_, i) => `--b\n\n${i}\n`).join("")
  }--b--\n`;
const nested = (depth: number) =>
  `${
    Array.from({ length: depth }, (_, i) =>
      `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`).join("")
  }\nx\n` +
  Array.from({ length: depth }, (_, i) => `--b${depth - 1 - i}--\n`).join("");

Deno.test("walkParts() takes as many parts as it may, and gives those before the first too many", () => {
  const all = walk(flat(5));
  assert.deepEqual([all.bodies.slice(1), all.warnings], [["0", "1", "2", "3", "4"], []]);
  const cut = walk(flat(6));
  assert.deepEqual([cut.bodies.slice(1), cut.warnings], [["0", "1", "2", "3", "4"], [
    "too_many_parts",
  ]]);
});

Deno.test("walkParts() opens as many multiparts in each other as it may", () => {
  const all = walk(nested(3));
  assert.deepEqual([all.parts.map(({ depth }) => depth), all.bodies.at(-1), all.warnings], [
    [0, 1, 2, 3],
    "x",
    [],
  ]);
  const cut = walk(nested(4));
  assert.deepEqual([cut.parts.length, cut.warnings], [4, ["nested_too_deep"]]);
  assert.ok(cut.parts.every((part) => part.isMultipart));
});

Deno.test("walkParts() reads 2 MiB of headers: of the message without its body, of a part not at all", () => {
  const exact = `a: ${"x".repeat(MAX_HEAD_BYTES - 5)}\n\n`;
  const fits = walk(`${exact}body`);
  assert.deepEqual([fits.bodies, fits.warnings], [["body"], []]);
  const large = walk(`Subject: s\n${exact}body`);
  assert.deepEqual([large.parts[0]?.fields[0]?.name, large.bodies, large.warnings], ["subject", [
    "",
  ], ["headers_too_large"]]);
  const inPart = walk(
    `Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n--b\n${exact}y\n--b--`,
  );
  assert.deepEqual([inPart.bodies.slice(1), inPart.warnings], [["x"], ["headers_too_large"]]);
});

Deno.test("walkParts() ends multiparts that were never closed with those around them", () => {
  const text =
    "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n" +
    "Content-Type: multipart/mixed; boundary=c\n\n--c\n\nx\n--a\n\ny\n--b\nz\n--a--\n";
  const { bodies, parts, warnings } = walk(text);
  assert.deepEqual([bodies.slice(3), parts.map(({ depth }) => depth)], [["x", "y\n--b\nz"], [
    0,
    1,
    2,
    3,
    1,
  ]]);
  assert.deepEqual(warnings, ["broken_structure"]);
});
