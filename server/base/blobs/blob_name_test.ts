import assert from "node:assert/strict";
import { makeUlid, ulidTimeMs } from "../storage/rows/ulid.ts";
import {
  blobOfFile,
  blobPath,
  isBlobName,
  isFolderSince,
  requireName,
  writtenMs,
} from "./blob_name.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));
const ULID = "01KT1GW6G0AWPFZ3BQRSNC2WEA";

Deno.test("blobPath gives folders of time, and a file name that says all of the blob's", () => {
  const name = ["org_1", "ibx-2", ULID];
  assert.deepEqual(blobPath(name), ["01KT1", "G", `org_1.ibx-2.${ULID}`]);
  assert.deepEqual(blobOfFile(`org_1.ibx-2.${ULID}`), { name, isFinished: true });
  assert.deepEqual(blobOfFile(`org_1.ibx-2.${ULID}.tmp`), { name, isFinished: false });
});

Deno.test("blobPath takes no name that leads out of its folder", () => {
  const names = [
    [ULID],
    ["..", ULID],
    ["a/b", ULID],
    ["a\u0000", ULID],
    ["org", "../../x"],
    ["org", ULID.toLowerCase()],
    [...Array(4).fill("x".repeat(64)), ULID],
  ];
  assert.equal(names.length, 7);
  for (const name of names) {
    assert.equal(isBlobName(name), false);
    assert.throws(() => blobPath(name), TypeError);
    assert.throws(() => requireName(name), TypeError);
  }
});

Deno.test("blobOfFile knows no file of somebody else's", () => {
  const files = ["", "README", ".tmp", `${ULID}`, `.${ULID}`, `a..${ULID}`, "store", `a b.${ULID}`];
  assert.equal(files.length, 8);
  for (const file of files) assert.equal(blobOfFile(file), null, file);
});

Deno.test("isFolderSince() knows the span of time in which all blobs of a folder were written", () => {
  const times = [0, 1, 1_780_000_000_000, 1_795_344_444_123, 2 ** 48 - 1];
  assert.equal(times.length, 5);
  for (const timeMs of times) {
    const name = ["org", makeUlid(timeMs, random)];
    const [outer, inner] = blobPath(name);
    assert.equal(writtenMs(name), timeMs);
    assert.equal(isFolderSince(timeMs, outer), true);
    assert.equal(isFolderSince(timeMs, outer, inner), true);
    assert.equal(isFolderSince(timeMs + 2 ** 25 + 1, outer), false);
    assert.equal(isFolderSince(timeMs + 2 ** 20 + 1, outer, inner), false);
  }
  assert.equal(isFolderSince(-Infinity, "lost+found"), false);
  assert.equal(isFolderSince(-Infinity, "01KT1", "GG"), false);
  assert.equal(isFolderSince(-Infinity, "01KT1", "G"), true);
});

Deno.test("ulidTimeMs reads the example of the ULID specification", () => {
  assert.equal(ulidTimeMs("01ARYZ6S41TSV4RRFFQ69G5FAV"), 1_469_918_176_385);
});
