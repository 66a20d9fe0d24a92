import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ASSET_FILES, STYLESHEET } from "./asset_files.ts";

/** As people download it before compression. */
const STYLESHEET_BYTES = 12_000;

Deno.test("STYLESHEET has at most 12 kB, and loads nothing", () => {
  const { length } = new TextEncoder().encode(STYLESHEET.text);
  assert.ok(length > 1_000 && length <= STYLESHEET_BYTES, `${length} bytes`);
  assert.doesNotMatch(STYLESHEET.text, /@import|url\(|https?:/i);
});

Deno.test("ASSET_FILES are named by the hash of their content", () => {
  const names = ASSET_FILES.map(({ name }) => name);
  const hashed = ASSET_FILES.map(({ text, name }) =>
    `relay.${createHash("sha256").update(text).digest("hex").slice(0, 16)}.${
      name.split(".").at(-1)
    }`
  );
  assert.equal(names.length, 2);
  assert.deepEqual(names, hashed);
});
