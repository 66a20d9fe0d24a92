import assert from "node:assert/strict";
import loopAssertions from "./loop_assertions.ts";

const LOOSE = [
  `for (const row of await list()) assert.ok(row);`,
  `for (const row of rows.filter(Boolean)) { assert.equal(row, 1); }`,
  `for (const row of [...rows]) assert.ok(row);`,
  `for (let i = 0; i < rows.length; i++) assert.ok(rows[i]);`,
  `rows.forEach((row) => assert.ok(row));`,
  `await Promise.all(rows.map(async (row) => assertStatus(await row, 200)));`,
  `for (const i of [1, 2]) for (const row of rows) assert.ok(row, i);`,
  `const seen = []; for (const row of seen) assert.ok(row);`,
  `for (const row of rows) checkRow(row);`,
  `checkRows(rows);`,
];

const STRICT = [
  `assert.equal(rows.length, 2); for (const row of rows) assert.ok(row);`,
  `for (const row of [1, 2]) assert.ok(row);`,
  `const cases = [[1, 2]] as const; for (const [row] of cases.entries()) assert.ok(row);`,
  `const cases = { a: 1 }; for (const [name] of Object.entries(cases)) assert.ok(name);`,
  `for (let i = 0; i < 3; i++) assert.ok(i);`,
  `const count = 3; await Promise.all(Array.from({ length: count }, () => assertOne()));`,
  `await within(async () => { assert.ok(await rows()); });`,
  `for (const row of rows) print(row);`,
  `checkRow(1);`,
  `for (const row of FULL) assert.ok(row);`,
];

const FUNCTIONS = `
function checkRow(row) { assert.ok(row); }
function checkRows(rows) { for (const row of rows) assert.ok(row); }
const FULL = ["a"];
`;

function findingsOf(body: string, file = "some_test.ts"): number {
  const text = `Deno.test("name", async () => { ${body} });\n${FUNCTIONS}`;
  return Deno.lint.runPlugin(loopAssertions, file, text).length;
}

Deno.test("loopAssertions finds tests whose assertions may all never run", () => {
  for (const body of LOOSE) assert.equal(findingsOf(body), 1, body);
});

Deno.test("loopAssertions leaves tests alone of which an assertion surely runs", () => {
  for (const body of STRICT) assert.equal(findingsOf(body), 0, body);
});

Deno.test("loopAssertions reads test files alone", () => {
  assert.equal(findingsOf(LOOSE[0]!, "some.ts"), 0);
});

Deno.test("loopAssertions looks at each test and each step by itself", () => {
  const body = `assert.ok(1); await t.step("step", () => { ${LOOSE[0]} });`;
  assert.equal(findingsOf(body), 1);
});
