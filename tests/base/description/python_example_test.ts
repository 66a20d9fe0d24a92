import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonOrSkip } from "../../support/python_program.ts";
import { startTestRelay } from "../../support/relay.ts";
import { readDocument } from "./read_document.ts";

const PROGRAM = pathOf("python_example_program.py");
const VECTORS = pathOf("../../vectors/messages.json");

Deno.test("docs/examples/relay.py has at most 60 lines of at most 100 characters", async () => {
  const lines = (await Deno.readTextFile(pathOf("../../../docs/examples/relay.py"))).trimEnd()
    .split("\n");
  assert.ok(lines.length <= 60, String(lines.length));
  assert.deepEqual(lines.filter((line) => line.length > 100), []);
});

await pythonOrSkip(
  pathOf("python_example_requirements.txt"),
  ["cryptography"],
  "the Python agent in the description registers, sends, polls and believes only what is proven",
  async (run) => {
    await using relay = await startTestRelay({
      clockStartMs: "real",
      limits: { inboxPollIntervalMs: 0 },
    });
    const folder = await Deno.makeTempDir({ prefix: "relay-python-" });
    try {
      const { info } = await readDocument(relay);
      const [, source] = /```python\n([\s\S]*?)```/.exec(info.description)!;
      assert.ok(source!.includes(`"${relay.url}"`));
      await Deno.writeTextFile(join(folder, "relay.py"), source!);
      const { code, stdout, stderr } = await run([PROGRAM, folder, VECTORS]);
      assert.equal(stderr, "");
      assert.equal(code, 0);
      const told = JSON.parse(stdout);
      assert.equal(new Set(told.ids).size, 3);
      assert.deepEqual(told.received, told.ids);
      assert.deepEqual(told.unpinned, ["open", "open", "open"]);
      assert.deepEqual(told.pinned, ["proven", "proven", "proven"]);
      assert.deepEqual(told.forgeries, FORGERIES);
      assertPrints(told);
      await assertJudgesAsTheToolkit(told.vectors);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

const FORGERIES = {
  body: "open",
  "body with its request": "open",
  "body alone": "false",
  "another's request": "open",
  "a refused request": "open",
  reply: "open",
  "content type": "open",
  addressee: "open",
  "no string": "open",
  number: "open",
  sender: "false",
  "empty sender": "false",
  signature: "false",
  "spelling of the signature": "false",
  string: "false",
};

// deno-lint-ignore no-explicit-any -- what the program printed
function assertPrints({ printed, ids, address }: any): void {
  const messages = (text: string) => text.split("\n").filter((line) => /^\d/.test(line));
  const hidden = messages(printed.unpinned);
  assert.ok(hidden.length >= 4);
  for (const line of hidden) assert.match(line, /^\d+ open$/);
  assert.ok(!hidden.join().includes(address));
  const shown = messages(printed.pinned);
  assert.ok(shown[0]!.startsWith(`${ids[0]} proven ${address} {'n': [0, 0, 1, 21.5, -0.0001,`));
  assert.ok(shown.at(-1)!.endsWith(` proven ${address} {'text': 'by the program \\x1b[2J'}`));
  assert.ok(!printed.pinned.includes("\x1b"));
}

/** The example fetches the signed request where the toolkit tries candidates, so it may be open. */
async function assertJudgesAsTheToolkit(verdicts: Record<string, string>): Promise<void> {
  const { cases } = JSON.parse(await Deno.readTextFile(VECTORS));
  const counts: Record<string, number> = { proven: 0, open: 0, false: 0 };
  for (const { name, report } of cases) {
    const verdict = verdicts[name];
    if (verdict === undefined) continue;
    counts[verdict]!++;
    const { signature, contentHash, canonicalString, body, sender } = report;
    const isFalse = signature === "invalid" || contentHash === "mismatch" ||
      canonicalString === "malformed";
    const isProven = !isFalse && signature === "valid" && body === "bound" && sender === "pinned";
    if (verdict === "proven") assert.ok(isProven, name);
    assert.equal(verdict === "false", isFalse, name);
  }
  assert.ok(counts.open! > 100 && counts.false! > 20, JSON.stringify(counts));
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
