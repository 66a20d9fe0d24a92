import { deepStrictEqual } from "node:assert/strict";
import { findNamedFiles, findTestsOf } from "./changed_tests.ts";

const FILES = [
  "deno.json",
  "docs/page.md",
  "server/a.ts",
  "server/a_test.ts",
  "server/b.ts",
  "server/main.ts",
  "tests/b_test.ts",
  "tests/process_test.ts",
  "tests/support/start.ts",
];
const EDGES = [
  { from: "server/a_test.ts", to: "server/a.ts" },
  { from: "tests/b_test.ts", to: "server/b.ts" },
  { from: "server/b.ts", to: "server/a.ts" },
  { from: "tests/process_test.ts", to: "tests/support/start.ts" },
  { from: "tests/support/start.ts", to: "server/main.ts" },
];

Deno.test("findTestsOf() finds the tests that reach a changed file, through any number of files", () => {
  deepStrictEqual(findTestsOf(FILES, EDGES, ["server/a.ts"]), [
    "server/a_test.ts",
    "tests/b_test.ts",
  ]);
  deepStrictEqual(findTestsOf(FILES, EDGES, ["server/b.ts"]), ["tests/b_test.ts"]);
  deepStrictEqual(findTestsOf(FILES, EDGES, ["server/main.ts"]), ["tests/process_test.ts"]);
  deepStrictEqual(findTestsOf(FILES, EDGES, ["docs/page.md"]), []);
});

Deno.test("findTestsOf() finds a changed test itself, and every test where a library changed", () => {
  deepStrictEqual(findTestsOf(FILES, EDGES, ["tests/b_test.ts"]), ["tests/b_test.ts"]);
  deepStrictEqual(findTestsOf(FILES, EDGES, ["deno.json"]), [
    "server/a_test.ts",
    "tests/b_test.ts",
    "tests/process_test.ts",
  ]);
});

Deno.test("findTestsOf() ends where files import each other in a circle", () => {
  const circle = [...EDGES, { from: "server/a.ts", to: "server/b.ts" }];
  deepStrictEqual(findTestsOf(FILES, circle, ["server/b.ts"]), [
    "server/a_test.ts",
    "tests/b_test.ts",
  ]);
});

Deno.test("findNamedFiles() finds files by their path from the root and from the source's folder", () => {
  const text = 'run(`${root}/server/main.ts`); read(join(here, "../docs/page.md")); see("none.ts")';
  deepStrictEqual(findNamedFiles({ path: "tests/b_test.ts", text }, new Set(FILES)), [
    { from: "tests/b_test.ts", to: "server/main.ts" },
    { from: "tests/b_test.ts", to: "docs/page.md" },
  ]);
});
