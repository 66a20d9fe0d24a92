import { strictEqual as equal } from "node:assert/strict";
import { partOrSkip } from "../support/part.ts";
import { bundleForNode } from "./node_bundle.ts";
import { vectorCases } from "./vector_cases.ts";

partOrSkip("node", "every vector holds on Node.js too", (node) => {
  const folder = Deno.makeTempDirSync({ prefix: "relay-vectors-" });
  try {
    const bundle = bundleForNode("tests/toolkit/vector_test.ts", folder);
    const { stdout, code } = new Deno.Command(node, {
      args: ["--test", "--test-reporter=tap", bundle],
      stderr: "inherit",
    }).outputSync();
    const lines = new TextDecoder().decode(stdout).split("\n");
    equal(lines.filter((line) => /^\s*not ok/.test(line)).join("\n"), "");
    equal(code, 0);
    const passed = lines.filter((line) => /^\s*ok \d+ - \w+\(\)/.test(line)).length;
    equal(passed, [...vectorCases()].length);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
