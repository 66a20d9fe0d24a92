import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { LONG_FILES } from "./test_steps.ts";

Deno.test("LONG_FILES are files of the project, from its root", async () => {
  assert.ok(LONG_FILES.length > 0);
  for (const path of LONG_FILES) {
    const { isFile } = await Deno.stat(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
    assert.ok(isFile, path);
  }
});
