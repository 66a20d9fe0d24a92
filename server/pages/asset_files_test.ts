import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ASSET_FILES, LIVE_SCRIPT, STYLESHEET } from "./asset_files.ts";

/** As people download them before compression. */
const STYLESHEET_BYTES = 16_000;
const LIVE_SCRIPT_BYTES = 2_000;

Deno.test("LIVE_SCRIPT has at most 2 kB", () => {
  const { length } = new TextEncoder().encode(LIVE_SCRIPT.text);
  assert.ok(length > 500 && length <= LIVE_SCRIPT_BYTES, `${length} bytes`);
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
