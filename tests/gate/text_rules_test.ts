import assert from "node:assert/strict";
import {
  findImpureCode,
  findLongFiles,
  findLooseAssertions,
  findMachinePaths,
  findRegistryHosts,
} from "./text_rules.ts";

// Written in pieces, or these rules would find them here.
const host = ["registry", "npmjs", "org"].join(".");
const machinePath = ["", "root", "project"].join("/");

Deno.test("findRegistryHosts() names file, line and host", () => {
  const found = findRegistryHosts({ path: "docs/a.md", text: `one\nsee https://${host}/hono\n` });
  assert.deepEqual(found, [`docs/a.md:2 "${host}": a registry's host`]);
});

Deno.test("findRegistryHosts() knows the hosts of other registries and leaves documentation alone", () => {
  for (const parts of [["jsr", "io"], ["deno", "land"], ["esm", "sh"], ["npm", "jsr", "io"]]) {
    assert.equal(
      findRegistryHosts({ path: "a.ts", text: parts.join(".") }).length,
      1,
      parts.join(),
    );
  }
  const text = "docs.deno.com, example.org, registry of agents, docs." + ["deno", "land"].join(".");
  assert.deepEqual(findRegistryHosts({ path: "a.md", text }), []);
});

Deno.test("findMachinePaths() finds paths of one machine, not paths of an API or a package", () => {
  assert.equal(findMachinePaths({ path: "a.ts", text: `open("${machinePath}/a")` }).length, 1);
  assert.equal(
    findMachinePaths({ path: "a.md", text: ["", "home", "me", "x"].join("/") }).length,
    1,
  );
  for (const text of ["/v1/messages", "./root/x", "src/work/x", "/var/lib/relay", "/tmp"]) {
    assert.deepEqual(findMachinePaths({ path: "a.md", text }), [], text);
  }
});

Deno.test("findMachinePaths() leaves vectors alone", () => {
  assert.deepEqual(findMachinePaths({ path: "tests/vectors/a.json", text: machinePath }), []);
});

Deno.test("findLongFiles() allows 300 lines and not 301", () => {
  const lines = (count: number) => "x;\n".repeat(count);
  assert.deepEqual(findLongFiles({ path: "server/a.ts", text: lines(300) }), []);
  assert.match(findLongFiles({ path: "server/a.ts", text: lines(301) })[0]!, /301 lines/);
});

Deno.test("findLongFiles() accepts a reason at the top, and only there", () => {
  const reason = "// Over 300 lines: one table, and a table cut in two is harder to read\n";
  const body = "x;\n".repeat(400);
  assert.deepEqual(findLongFiles({ path: "server/a.ts", text: reason + body }), []);
  assert.equal(findLongFiles({ path: "server/a.ts", text: body + reason }).length, 1);
  assert.equal(
    findLongFiles({ path: "server/a.ts", text: "// Over 300 lines: so\n" + body }).length,
    1,
  );
});

Deno.test("findLongFiles() asks nothing of documents and data", () => {
  const text = "x\n".repeat(5000);
  for (const path of ["docs/api.md", "wordlists/colors.json", "tests/vectors/a.js"]) {
    assert.deepEqual(findLongFiles({ path, text }), [], path);
  }
});

for (
  const code of [
    `Deno.readFile("a")`,
    "process.env.HOME",
    "await fetch(url)",
    "Date.now()",
    "new Date()",
    "setTimeout(f, 1)",
    "globalThis.process",
    "Buffer.from(x)",
    "performance.now()",
  ]
) {
  Deno.test(`findImpureCode() finds ${code} in the toolkit's core alone`, () => {
    const text = `const x = ${code};\n`;
    assert.match(findImpureCode({ path: "toolkit/a.ts", text })[0] ?? "", /^toolkit\/a\.ts:1 /);
    for (
      const path of ["toolkit/client/a.ts", "toolkit/cli/a.ts", "toolkit/a_test.ts", "server/a.ts"]
    ) {
      assert.deepEqual(findImpureCode({ path, text }), [], path);
    }
  });
}

Deno.test("findImpureCode() ignores comments, strings and look-alikes", () => {
  const text = `
    // Deno.readFile and fetch() stay outside
    /** setTimeout(f) in an example */
    const message = "Date.now() is refused";
    const when = new Date(createdAtMs);
    const own = options.fetch(url), later = clock.setTimeout(f);
    const myDeno = { x: prefetch(1) };
  `;
  assert.deepEqual(findImpureCode({ path: "toolkit/a.ts", text }), []);
});

Deno.test("findImpureCode() still sees code behind a URL in a string", () => {
  const text = `const url = "https://a.example//x"; fetch(url);\n`;
  assert.equal(findImpureCode({ path: "toolkit/a.ts", text }).length, 1);
});

// Written in pieces for the same reason.
const strictAssert = `from "node:assert/${"strict"}";\n`;

for (
  const [what, text] of Object.entries({
    "a name": `import { equal } ${strictAssert}`,
    "a name among others": `import { match, notDeepEqual, ok } ${strictAssert}`,
    "a name over lines": `import {\n  match,\n  deepEqual,\n} ${strictAssert}`,
    "a name beside the default": `import assert, { notEqual } ${strictAssert}`,
    "a renamed one": `import { equal as same } ${strictAssert}`,
    "a namespace": `import * as assert ${strictAssert}`,
    "an example in a docstring": ` * import { deepEqual, throws } ${strictAssert}`,
  })
) {
  Deno.test(`findLooseAssertions() refuses ${what}`, () => {
    const found = findLooseAssertions({
      path: "server/a_test.ts",
      text: "const one = 1;\n" + text,
    });
    assert.equal(found.length, 1, text);
    assert.match(found[0]!, /^server\/a_test\.ts:2 "/);
  });
}

Deno.test("findLooseAssertions() allows what compares strictly", () => {
  const text = [
    `import assert ${strictAssert}`,
    `import { strictEqual as equal, deepStrictEqual as deepEqual, rejects } ${strictAssert}`,
    `import { ok, throws } ${strictAssert}`,
    `import { equal } from "./equal.ts";\nimport assert ${strictAssert}`,
    `// import rules are equal for all\nimport { match } ${strictAssert}`,
  ].join("");
  assert.deepEqual(findLooseAssertions({ path: "a_test.ts", text }), []);
});
