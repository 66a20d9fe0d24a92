/** The official Python client, both generations of it: what models in Python frameworks stand on. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonOrSkip } from "../../support/python_program.ts";
import { startTestRelay } from "../../support/relay.ts";
import { TOOL_NAMES } from "../../support/tool_client.ts";

const FOLDER = fileURLToPath(new URL("./", import.meta.url));
/** Modules that only this generation has, and what the program prints with it. */
const GENERATIONS = {
  first: { modules: ["mcp.client.experimental"], lines: "session done\n" },
  second: { modules: ["mcp_types", "mcp"], lines: "session done\nclient done\n" },
};

for (const [generation, { modules, lines }] of Object.entries(GENERATIONS)) {
  await pythonOrSkip(
    join(FOLDER, `python_client_${generation}.txt`),
    modules,
    `the Python client of the ${generation} generation registers, sends and checks`,
    async (run) => {
      await using relay = await startTestRelay();
      const { code, stdout, stderr } = await run([
        join(FOLDER, "python_client.py"),
        `${relay.url}/mcp`,
        "python",
        ...TOOL_NAMES,
      ]);
      assert.equal(stdout, lines, stderr);
      assert.equal(code, 0);
    },
  );
}
