import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { patterned } from "../../../tests/support/blob_rig.ts";
import { SectionHashes } from "./section_hashes.ts";

Deno.test("SectionHashes gives SHA-256 in base64url, many at one time, after a failure too", async () => {
  const hashes = new SectionHashes();
  // The runtime refuses what is no bytes.
  await assert.rejects(hashes.of({ length: 2 ** 21 } as Uint8Array));
  const sizes = [0, 1, 2 ** 20, 2 ** 20 + 1, 3_000_000, 2_000_000];
  const all = sizes.map((sizeBytes) => patterned(sizeBytes, sizeBytes + 1));
  const given = await Promise.all(all.map((bytes) => hashes.of(bytes)));
  const expected = all.map((bytes) => createHash("sha256").update(bytes).digest("base64url"));
  assert.deepEqual(given, expected);
});
