import { strictEqual as equal } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { bundleForNode, hasNode } from "./node_bundle.ts";
import { vectorCases } from "./vector_cases.ts";

Deno.test({
  name: "every vector holds on Node.js too",
  ignore: !hasNode,
  fn() {
    const folder = Deno.makeTempDirSync({ prefix: "relay-vectors-" });
    try {
      const bundle = bundleForNode("tests/toolkit/vector_test.ts", folder);
      const { stdout, status } = spawnSync("node", ["--test", "--test-reporter=tap", bundle], {
        encoding: "utf8",
        maxBuffer: 64 * 1024 * 1024,
      });
      const failed = stdout.split("\n").filter((line) => /^\s*not ok/.test(line)).join("\n");
      equal(failed, "");
      equal(status, 0);
      const cases = [...vectorCases()].length;
      const passed = stdout.split("\n").filter((line) => /^\s*ok \d+ - \w+\(\)/.test(line)).length;
      equal(passed, cases);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});
