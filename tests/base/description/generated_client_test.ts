import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { startTestRelay } from "../../support/relay.ts";
import { readDocument } from "./read_document.ts";

const PROGRAM = "generated_client_program.ts";

Deno.test("a client generated from the description registers, sends and polls, type-checked", async () => {
  await using relay = await startTestRelay({ clockStartMs: "real" });
  const folder = await Deno.makeTempDir({ prefix: "relay-generated-" });
  const types = astToString(await openapiTS(await readDocument(relay)));
  const source = (await Deno.readTextFile(pathOf(PROGRAM))).replace(/\/\/ @ts-ignore.*/, "");

  try {
    await Deno.writeTextFile(join(folder, "generated_api.d.ts"), types);
    // Types that allow everything would prove nothing: then the error that is expected is missing.
    const wrong = "// @ts-expect-error -- an id is a number\nconst text: string = sent.data.id;\n";
    const program = source.replace("const id: number", `${wrong}$&`);
    assert.notEqual(program, source);
    await Deno.writeTextFile(join(folder, PROGRAM), program);
    const output = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--check",
        "--quiet",
        "--no-prompt",
        "--frozen",
        `--config=${pathOf("../../../deno.json")}`,
        "--allow-net=127.0.0.1",
        join(folder, PROGRAM),
        relay.url,
      ],
      env: { NO_COLOR: "1" },
    }).output();
    const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) =>
      new TextDecoder().decode(bytes)
    );
    assert.equal(output.code, 0, stderr);
    const { id, lastId, ...rest } = JSON.parse(stdout!);
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
