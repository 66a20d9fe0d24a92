import assert from "node:assert/strict";
import { findImportFaults, isToolkitCore } from "./import_rules.ts";

function faults(from: string, to: string, specifier = "./some.ts"): string[] {
  return findImportFaults([{ from, to, specifier }]);
}

function allowed(from: string, to: string): void {
  assert.deepEqual(faults(from, to), [], `${from} -> ${to}`);
}

function refused(from: string, to: string, reason: RegExp): void {
  const found = faults(from, to);
  assert.equal(found.length, 1, `${from} -> ${to}: ${found.join("; ")}`);
  assert.match(found[0]!, reason);
  assert.ok(found[0]!.startsWith(`${from} imports ${to}: `));
}

Deno.test("import rules: libraries are named in deno.json, never in code", () => {
  assert.deepEqual(faults("server/app.ts", "npm:hono@4.13.19", "hono"), []);
  assert.equal(faults("server/app.ts", "npm:hono@4.13.19", "npm:hono@4.13.19").length, 1);
  assert.equal(
    faults("tests/a_test.ts", "https://x.example/a.ts", "https://x.example/a.ts").length,
    1,
  );
});

Deno.test("import rules: wordlists/ imports nothing, its tests may", () => {
  allowed("wordlists/mod.ts", "wordlists/colors.json");
  refused("wordlists/mod.ts", "toolkit/mod.ts", /is data/);
  refused("wordlists/mod.ts", "node:fs", /is data/);
  allowed("wordlists/mod_test.ts", "node:fs");
});

Deno.test("import rules: toolkit/ knows nothing of the server", () => {
  allowed("toolkit/word_name.ts", "wordlists/mod.ts");
  allowed("toolkit/verify_message.ts", "npm:canonicalize@5.1.0");
  refused("toolkit/verify_message.ts", "server/limits.ts", /only itself and wordlists/);
  refused("toolkit/cli/main.ts", "server/limits.ts", /only itself and wordlists/);
  refused("toolkit/client/mod.ts", "docs/example.ts", /only itself and wordlists/);
  allowed("toolkit/verify_message_test.ts", "tests/support/vectors.ts");
});

Deno.test("import rules: the toolkit's core imports no node: and nothing that stands on it", () => {
  refused("toolkit/content_hash.ts", "node:crypto", /browsers/);
  for (const folder of ["client", "node", "cli", "page", "build"]) {
    refused("toolkit/mod.ts", `toolkit/${folder}/mod.ts`, /is not imported by it/);
    allowed(`toolkit/${folder}/mod.ts`, "toolkit/mod.ts");
  }
  allowed("toolkit/cli/main.ts", "node:process");
  allowed("toolkit/content_hash_test.ts", "node:assert/strict");
});

Deno.test("import rules: server/ imports itself, toolkit/ and wordlists/", () => {
  allowed("server/messages/send/send.ts", "toolkit/mod.ts");
  allowed("server/messages/send/send.ts", "node:crypto");
  allowed("server/demo.ts", "toolkit/client/mod.ts");
  for (const folder of ["cli", "page", "build"]) {
    refused("server/messages/send/send.ts", `toolkit/${folder}/main.ts`, /no library/);
  }
  refused("server/messages/send/send.ts", "docs/example.ts", /only itself/);
  refused("server/docs/guides.ts", "docs/adr/README.md", /only itself/);
  refused("server/docs/guides.ts", "README.md", /only itself/);
});

Deno.test("import rules: what ships imports neither tests nor benchmarks", () => {
  refused("server/storage/store.ts", "server/storage/store_test.ts", /does not import tests/);
  const found = faults("server/app.ts", "tests/support/clock.ts");
  assert.ok(found.some((fault) => fault.includes("does not import tests")), found.join("\n"));
  allowed("bench/main.ts", "tests/support/clock.ts");
});

Deno.test("import rules: a circle of project modules is a fault, libraries are not followed", () => {
  const found = findImportFaults([
    { from: "server/a.ts", to: "server/b.ts", specifier: "./b.ts" },
    { from: "server/b.ts", to: "server/a.ts", specifier: "./a.ts" },
    { from: "server/b.ts", to: "npm:hono@4.13.19", specifier: "hono" },
  ]);
  assert.deepEqual(found, ["circle: server/a.ts -> server/b.ts -> server/a.ts"]);
});

Deno.test("isToolkitCore() is the toolkit without what stands on it and without tests", () => {
  assert.equal(isToolkitCore("toolkit/mod.ts"), true);
  assert.equal(isToolkitCore("toolkit/client/mod.ts"), false);
  assert.equal(isToolkitCore("toolkit/cli/main.ts"), false);
  assert.equal(isToolkitCore("toolkit/page/page.ts"), false);
  assert.equal(isToolkitCore("toolkit/build/main.ts"), false);
  assert.equal(isToolkitCore("toolkit/mod_test.ts"), false);
  assert.equal(isToolkitCore("server/app.ts"), false);
});
