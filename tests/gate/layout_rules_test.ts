import assert from "node:assert/strict";
import { findLayoutFaults, findLooseVersions } from "./layout_rules.ts";

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
