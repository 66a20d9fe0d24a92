import assert from "node:assert/strict";
import { type BoundedLists, fitLists, listBytes } from "./fit_lists.ts";
import type { FoundAttachment, MailAddress, ParseWarning } from "./parsed_mail.ts";

const addresses = (count: number): MailAddress[] =>
  Array.from(
    { length: count },
    (_, i) => ({ name: "\u00e4".repeat(50), address: `${i}@a.example` }),
  );
const attachments = (count: number): FoundAttachment[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `att_${i}`,
    filename: "\u{1f600}".repeat(60),
    contentType: "application/pdf",
    sizeBytes: 1,
    disposition: "attachment",
    contentId: null,
    sha256: "0".repeat(64),
  }));
const lists = (count: number): BoundedLists => ({
  replyTo: addresses(count),
  to: addresses(count),
  cc: addresses(count),
  references: Array.from({ length: count }, (_, i) => `${i}@${"x".repeat(200)}`),
  attachments: attachments(count),
});

Deno.test("fitLists() leaves alone what fits", () => {
  const warnings = new Set<ParseWarning>();
  assert.deepEqual(fitLists(lists(10), warnings), lists(10));
  assert.deepEqual([...warnings], []);
});

Deno.test("fitLists() cuts each list to its bound, names it, and keeps the newest references", () => {
  const warnings = new Set<ParseWarning>();
  const fitted = fitLists(lists(300), warnings);
  assert.deepEqual([...warnings], ["addresses_cut", "references_cut", "attachments_cut"]);
  assert.ok(listBytes(fitted) <= 32 * 1024 + 200);
  const lengths = Object.values(fitted).map((list) => list.length);
  assert.equal(lengths.length, 5);
  for (const length of lengths) assert.ok(length > 10 && length < 300);
  assert.equal(fitted.references.at(-1), lists(300).references.at(-1));
  assert.deepEqual(fitted.to[0], lists(1).to[0]);
});

Deno.test("fitLists() gives the attachments the room that other lists leave", () => {
  const warnings = new Set<ParseWarning>();
  const few = fitLists({ ...lists(0), attachments: attachments(300) }, warnings);
  const beside = fitLists(lists(300), warnings);
  assert.ok(few.attachments.length > 2 * beside.attachments.length);
});

Deno.test("listBytes() counts what the store takes: two bytes a unit beside one wide character", () => {
  assert.equal(listBytes("a".repeat(100)), 102);
  assert.equal(listBytes("\u00e4".repeat(100)), 202);
  assert.equal(listBytes("\u4e2d".repeat(100)), 302);
  assert.equal(listBytes({ name: `\u4e2d${"a".repeat(99)}` }), 200 + '{"name":""}'.length);
});
