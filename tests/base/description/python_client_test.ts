import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { pythonOrSkip } from "../../support/python_program.ts";
import { startTestRelay } from "../../support/relay.ts";

await pythonOrSkip(
  pathOf("python_client_requirements.txt"),
  ["openapi_python_client", "cryptography"],
  "a Python client generated from the description registers, sends and polls",
  async (run) => {
    await using relay = await startTestRelay({ clockStartMs: "real", deps: { now: Date.now } });
    const folder = await Deno.makeTempDir({ prefix: "relay-python-client-" });
    try {
      const { code, stdout, stderr } = await run([
        pathOf("python_client_program.py"),
        relay.url,
        folder,
      ]);
      assert.equal(code, 0, stderr);
      const { token, sent, warnings, ...told } = JSON.parse(stdout.trim().split("\n").at(-1)!);
      assert.match(token, /^rt_owner_/);
      assert.deepEqual(warnings, []);
      assert.deepEqual(told, {
        health: true,
        window: 300,
        refused: [404, "not_found"],
        tags: ["a-b"],
        received: [[sent, { text: "from a generated client" }, "generated", null]],
        seen: true,
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
