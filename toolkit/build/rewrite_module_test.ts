import assert from "node:assert/strict";
import { jsonModule, rewriteModule } from "./rewrite_module.ts";

Deno.test("rewriteModule() names modules as Node.js and browsers resolve them", () => {
  const cases = [
    ['import { a } from "./a.ts";', 'import { a } from "./a.js";'],
    ['import {\n  a,\n  b\n} from "../c/a_b.ts";', 'import {\n  a,\n  b\n} from "../c/a_b.js";'],
    ['export { a } from "./a.ts";', 'export { a } from "./a.js";'],
    ['export * from "./a.ts";', 'export * from "./a.js";'],
    ['import "./a.ts";', 'import "./a.js";'],
    ['const a = await import("./a.ts");', 'const a = await import("./a.js");'],
    ['  x: import("./a.ts").A;', '  x: import("./a.js").A;'],
  ];
  for (const [before, after] of cases) assert.equal(rewriteModule(before!), after);
});

Deno.test("rewriteModule() leaves everything else as it is", () => {
  const same = [
    'import { readFile } from "node:fs";',
    'import { sha256 } from "@noble/hashes/sha2.js";',
    ' * import { a } from "./a.ts";',
    'const text = "import ./a.ts";\nconst other = "./b.ts";',
  ];
  for (const text of same) assert.equal(rewriteModule(text), text);
});

Deno.test("rewriteModule() imports JSON as a module", () => {
  for (const attributes of ['{ type: "json" }', '{\n  type: "json"\n}']) {
    assert.equal(
      rewriteModule(`import words from "./words.json" with ${attributes};`),
      'import words from "./words.js";',
    );
  }
  assert.equal(jsonModule('[\n  "a",\n  "b"\n]\n'), 'export default ["a","b"];\n');
});

Deno.test("rewriteModule() removes the path of the machine that built it", () => {
  const text = '/// <amd-module name="file:///somewhere/a.ts" />\nexport declare const a: 1;\n';
  assert.equal(rewriteModule(text), "export declare const a: 1;\n");
});
