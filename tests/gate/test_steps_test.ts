import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { groupTests, LONG_FILES } from "./test_steps.ts";

Deno.test("LONG_FILES are files of the project, from its root", async () => {
  assert.ok(LONG_FILES.length > 0);
  for (const path of LONG_FILES) {
    const { isFile } = await Deno.stat(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
    assert.ok(isFile, path);
  }
});

Deno.test("groupTests() has each test file once, long ones first and alone", () => {
  const others = Array.from({ length: 7 }, (_, i) => `server/part_${i}_test.ts`);
  const sources = ["server/part.ts", "tests/support/relay.ts"];
  const groups = groupTests([...sources, ...others, ...LONG_FILES, "tests/waits_test.ts"], 3);
  assert.deepEqual(groups.slice(0, LONG_FILES.length), LONG_FILES.map((path) => [path]));
  assert.deepEqual(groups.slice(LONG_FILES.length).map((group) => group.length), [3, 3, 2]);
  assert.equal(groups[LONG_FILES.length]![0], "tests/waits_test.ts");
  assert.deepEqual(groups.flat().sort(), [...others, ...LONG_FILES, "tests/waits_test.ts"].sort());
});
