import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { startTestRelay } from "../support/relay.ts";
import { readDocument } from "./read_document.ts";

const PROGRAM = "generated_client_program.ts";

Deno.test("a client generated from the description registers, sends and polls, type-checked", async () => {
  await using relay = await startTestRelay({ clockStartMs: "real" });
  const folder = await Deno.makeTempDir({ prefix: "relay-generated-" });
  try {
    const types = astToString(await openapiTS(await readDocument(relay)));
    await Deno.writeTextFile(join(folder, "generated_api.d.ts"), types);
    const program = await Deno.readTextFile(pathOf(PROGRAM));
    await Deno.writeTextFile(
      join(folder, PROGRAM),
      program.replace(/\/\/ @ts-ignore.*/, ""),
    );
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--check",
        "--quiet",
        "--no-prompt",
        "--frozen",
        `--config=${pathOf("../../deno.json")}`,
        "--allow-net=127.0.0.1",
        join(folder, PROGRAM),
        relay.url,
      ],
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const { id, lastId, ...rest } = JSON.parse(new TextDecoder().decode(stdout));
    assert.ok(Number.isSafeInteger(id) && id === lastId);
    assert.deepEqual(rest, {
      code: "not_found",
      hasToken: true,
      received: [{ id, body: { text: "from a generated client" } }],
      isSeen: true,
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
