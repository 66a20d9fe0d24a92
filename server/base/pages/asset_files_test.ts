import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  ASSET_FILES,
  COPY_SCRIPT,
  EMBED_SCRIPT,
  LIVE_SCRIPT,
  MAILBOX_SCRIPT,
  MAILBOX_STYLESHEET,
  STYLESHEET,
} from "./asset_files.ts";

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

Deno.test("each stylesheet has at most 16 kB, and loads nothing", () => {
  const sizes = [STYLESHEET, MAILBOX_STYLESHEET].map(({ text }) => {
    assert.doesNotMatch(text, /@import|url\(|https?:/i);
    return new TextEncoder().encode(text).length;
  });
  assert.equal(sizes.filter((size) => size > 1_000 && size <= STYLESHEET_BYTES).length, 2);
});

Deno.test("MAILBOX_SCRIPT has at most 6 kB, and with all others less than 12 kB", () => {
  const size = new TextEncoder().encode(MAILBOX_SCRIPT.text).length;
  assert.ok(size > 500 && size <= 6_000, `${size} bytes`);
  const scripts = ASSET_FILES.filter(({ type }) => type.startsWith("text/javascript"));
  const total = scripts.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
  assert.ok(scripts.length >= 4 && total < 12_000, `${total} bytes`);
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
