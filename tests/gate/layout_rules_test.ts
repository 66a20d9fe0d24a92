import assert from "node:assert/strict";
import { findCrowdedFolders, findLayoutFaults, findLooseVersions } from "./layout_rules.ts";

Deno.test("findLayoutFaults() accepts the project's folders and files", () => {
  const files = ["deno.json", "README.md", ".ci/run", "server/app.ts", "docs/adr/0001-x.md"];
  assert.deepEqual(findLayoutFaults(files), []);
});

Deno.test("findLayoutFaults() names each stranger on the top level once", () => {
  assert.deepEqual(findLayoutFaults(["src/a.ts", "src/b.ts", "NOTES.md"]), [
    "NOTES.md: not an entry of the top level",
    "src: not an entry of the top level",
  ]);
});

Deno.test("findLayoutFaults() refuses shell scripts, other cases and names that say nothing", () => {
  for (
    const path of ["tests/run.sh", "server/sendMail.ts", "server/send-mail.ts", "server/utils.ts"]
  ) {
    const found = findLayoutFaults([path]);
    assert.equal(found.length, 1, path);
    assert.ok(found[0]!.startsWith(path));
  }
});

Deno.test("findCrowdedFolders() counts 25 files and folders, but no tests, folder by folder", () => {
  const files = Array.from({ length: 24 }, (_, n) => `server/mail/f${n}.ts`);
  const more = ["server/mail/sending/a.ts", "server/mail/sending/b.ts", "server/mail/f_test.ts"];
  const others = Array.from({ length: 30 }, (_, n) => `tests/support/f${n}.ts`);
  assert.deepEqual(findCrowdedFolders([...files, ...more, ...others], {}), []);
  const full = [...files, ...more, "server/mail/rows/a.ts"];
  assert.deepEqual(findCrowdedFolders(full, {}), [
    "server/mail/: 26 files and folders, at most 25; move what belongs together into a folder",
  ]);
  assert.deepEqual(findCrowdedFolders(full, { "server/mail": "a reason" }), []);
});

Deno.test("findCrowdedFolders() names an exception that is none any more", () => {
  assert.deepEqual(
    findCrowdedFolders(["server/mail/a.ts"], { "server/mail": "a", "server/x": "b" }),
    [
      "server/mail/: no longer crowded; delete its reason in tests/gate/layout_rules.ts",
      "server/x/: no longer crowded; delete its reason in tests/gate/layout_rules.ts",
    ],
  );
});

Deno.test("findLooseVersions() accepts exact versions, with scope, pre-release and sub-path", () => {
  const imports = {
    "own": "./toolkit/mod.ts",
    "hono": "npm:hono@4.13.19",
    "@noble/hashes": "npm:@noble/hashes@2.4.0",
    "sub": "npm:hono@4.13.19/cors",
    "pre": "npm:zod@5.0.0-beta.1",
  };
  assert.deepEqual(findLooseVersions(imports), []);
});

Deno.test("findLooseVersions() refuses ranges, missing versions and other sources", () => {
  for (
    const target of [
      "npm:hono",
      "npm:hono@4",
      "npm:hono@^4.13.19",
      "npm:@a/b",
      "jsr:@std/path@1.0.0",
    ]
  ) {
    assert.equal(findLooseVersions({ name: target }).length, 1, target);
  }
});
