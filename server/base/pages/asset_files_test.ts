import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ASSET_FILES, COPY_SCRIPT, EMBED_SCRIPT, LIVE_SCRIPT, STYLESHEET } from "./asset_files.ts";

/** As people download them before compression. */
const STYLESHEET_BYTES = 16_000;
const SCRIPT_BYTES = 2_000;

Deno.test("scripts have at most 2 kB each", () => {
  const sizes = [LIVE_SCRIPT, COPY_SCRIPT, EMBED_SCRIPT].map(({ text }) =>
    new TextEncoder().encode(text).length
  );
  assert.equal(sizes.length, 3);
  for (const size of sizes) assert.ok(size > 500 && size <= SCRIPT_BYTES, `${size} bytes`);
});

Deno.test("STYLESHEET has at most 16 kB, and loads nothing", () => {
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
  assert.ok(names.length >= 3);
  assert.deepEqual(names, hashed);
});
