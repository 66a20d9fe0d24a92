import assert from "node:assert/strict";
import type { MessageRow } from "./message_row.ts";
import { createdAtOf, decodeRow, encodeRow } from "./row_codec.ts";

const row: MessageRow = {
  senderId: 2 ** 40,
  createdAtMs: 1_790_000_000_123,
  contentHash: "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a",
  bodyAt: 207,
  bodySizeBytes: 65_536,
  request: { to: "@Some_Agent", inReplyTo: "value", contentType: "null" },
  json: new TextEncoder().encode('{"id":1}'),
  pieces: 1,
};

Deno.test("decodeRow() gives back what encodeRow() was given, also from a view into a larger buffer", () => {
  const larger = new Uint8Array(1_000);
  const encoded = encodeRow(row);
  larger.set(encoded, 333);
  const view = larger.subarray(333, 333 + encoded.length);
  for (const bytes of [encoded, view]) {
    const decoded = decodeRow(bytes);
    for (const field of Object.keys(row) as (keyof MessageRow)[]) {
      if (field !== "json") assert.deepEqual(decoded[field], row[field], field);
    }
    assert.deepEqual([...decoded.json], [...row.json]);
    assert.equal(createdAtOf(bytes), row.createdAtMs);
  }
});

Deno.test("decodeRow() tells a request that is kept raw from every form of a rebuilt one", () => {
  const raw = { ...row, request: { rawPieces: 5 } };
  assert.deepEqual(decodeRow(encodeRow(raw)).request, { rawPieces: 5 });
  for (const inReplyTo of ["absent", "null", "value"] as const) {
    for (const contentType of ["absent", "null", "value"] as const) {
      const request = { to: "", inReplyTo, contentType };
      assert.deepEqual(decodeRow(encodeRow({ ...row, request })).request, request);
    }
  }
});

Deno.test("decodeRow() refuses a format of a later version", () => {
  const bytes = encodeRow(row);
  bytes[0] = 2;
  assert.throws(() => decodeRow(bytes), /unknown format 2/);
});
