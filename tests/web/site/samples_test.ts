/** Every piece of code that pages show is run, in its language, against the relay that shows it. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { partOrSkip } from "../../support/part.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { callTool, postRpc, rpcRequest, TOOL_NAMES } from "../../support/tool_client.ts";
import { askPage } from "./page.ts";
import { runInShell, samplesOn, type ShownSample } from "./shown_samples.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const REQUIREMENTS = join(ROOT, "tests/base/description/python_example_requirements.txt");
const SEED_HEX = "5".repeat(64);
/** Stands in for a program that a reader has. */
const OPENSSL = `echo ${SEED_HEX}`;
/** deno as `deno task` finds it. */
const DENO_PATH = dirname(Deno.execPath());

/** The samples of the start page and of an agent's page, by what they are. */
interface Shown {
  start: Record<"tool" | "cli" | "curl" | "pythonRun" | "python" | "tsRun" | "ts", ShownSample>;
  write: Record<"tool" | "cli" | "python" | "curl", ShownSample>;
  reader: TestAgent;
}

const START = ["tool", "cli", "curl", "pythonRun", "python", "tsRun", "ts"] as const;
const WRITE = ["tool", "cli", "python", "curl"] as const;

async function withSamples(
  fn: (relay: TestRelay, shown: Shown, home: string) => Promise<void>,
): Promise<void> {
  await using relay = await startTestRelay({
    clockStartMs: "real",
    limits: { inboxPollIntervalMs: 0 },
  });
  const home = await Deno.makeTempDir({ prefix: "relay-samples-" });
  try {
    const reader = await registerAgent(relay, "reader");
    const start = samplesOn((await askPage(`${relay.url}/`)).text);
    const write = samplesOn((await askPage(`${relay.url}/agents/reader`)).text);
    await fn(relay, { start: named(START, start), write: named(WRITE, write), reader }, home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** @throws AssertionError where a page has more or fewer samples than are run here */
function named<const N extends readonly string[]>(names: N, samples: readonly ShownSample[]) {
  assert.equal(samples.length, names.length);
  return Object.fromEntries(names.map((name, i) => [name, samples[i]!])) as Record<
    N[number],
    ShownSample
  >;
}

async function assertReceived(reader: TestAgent, from: string): Promise<void> {
  const messages = await reader.inbox();
  assert.equal(messages.length, 1, JSON.stringify(messages));
  assert.equal(messages[0].from_handle, from);
  assert.equal(messages[0].body.text, "Hello");
}

Deno.test("the pages' samples for a tool client connect it and send", async () => {
  await withSamples(async (relay, { start, write, reader }, home) => {
    assert.equal(start.tool.language, "sh");
    const programs = { claude: 'echo "$@"' };
    const { code, out } = await runInShell(start.tool.text, { cwd: home, home, programs });
    assert.equal(code, 0);
    const [, url] = /^mcp add --transport http relay (http:\S+)\/mcp\n$/.exec(out)!;
    const tools = await postRpc(url!, rpcRequest("tools/list"));
    assert.equal(tools.json.result.tools.length, TOOL_NAMES.length);
    const { structured: { token } } = await callTool(url!, "register", { handle: "my_agent" });
    assert.equal(write.tool.language, "json");
    const sent = await callTool(url!, "send_message", { token, ...JSON.parse(write.tool.text) });
    assert.ok(!sent.isError, sent.text);
    await assertReceived(reader, "my_agent");
    assert.equal(url, relay.url);
  });
});

Deno.test("the pages' samples for the command line register, send and read", async () => {
  await withSamples(async (_, { start, write, reader }, home) => {
    const options = { cwd: ROOT, home, env: { PATH: `${DENO_PATH}:${Deno.env.get("PATH")}` } };
    const { code, out } = await runInShell(`set -e\n${start.cli.text}\n${write.cli.text}`, options);
    assert.equal(code, 0, out);
    assert.match(out, /Hello/);
    await assertReceived(reader, "my_agent");
  });
});

partOrSkip("curl", "the pages' samples for curl register, send and read", async () => {
  await withSamples(async (_, { start, write, reader }, home) => {
    const script = `set -e\n${start.curl.text}\n${write.curl.text}`;
    const { code, out } = await runInShell(script, { cwd: home, home });
    assert.equal(code, 0, out);
    assert.match(out, /Keep this token, it is shown once: rt_mcp_/);
    assert.match(out, /"from_handle":"my_agent"/);
    await assertReceived(reader, "my_agent");
  });
});

await pythonOrSkip(
  REQUIREMENTS,
  ["cryptography"],
  "the pages' samples for Python register, send, read and check",
  async (_, python) => {
    await withSamples(async (_, { start, write, reader }, home) => {
      assert.equal(start.python.language, "python");
      await Deno.writeTextFile(join(home, "relay.py"), start.python.text);
      const programs = { openssl: OPENSSL, pip: "exit 0" };
      const env = { ...python, RELAY_PRIVATE_KEY_HEX: SEED_HEX };
      const run = start.pythonRun.text.replace(/\npython3 /, "\nexec python3 ");
      assert.match(run, /exec python3/);
      const { out } = await runInShell(run, {
        cwd: home,
        home,
        programs,
        env: python,
        until: /^\d+ open/m, // nobody is pinned yet
      });
      assert.match(out, /"handle":"my_agent"/);
      assert.equal(write.python.language, "python");
      await Deno.writeTextFile(join(home, "write.py"), write.python.text);
      const written = await runInShell("exec python3 write.py", { cwd: home, home, env });
      assert.equal(written.code, 0, written.out);
      await assertReceived(reader, "my_agent");
    });
  },
);

async function assertTypescriptWorks(node: string): Promise<void> {
  await withSamples(async (_, { start }, home) => {
    assert.equal(start.ts.language, "typescript");
    await Deno.writeTextFile(join(home, "relay.ts"), start.ts.text);
    const { out } = await runInShell(start.tsRun.text.replace(/\nnode /, "\nexec node "), {
      cwd: home,
      home,
      programs: { openssl: OPENSSL, node: `exec ${node} "$@"` },
      until: /my_agent \{ text: ["']Hello["'] \}/,
    });
    assert.match(out, /handle: ["']my_agent["']/);
  });
}

Deno.test("the pages' sample for TypeScript registers, sends and reads, on Deno", async () => {
  await assertTypescriptWorks(`${Deno.execPath()} run --quiet --allow-env --allow-net`);
});

partOrSkip(
  "node22",
  "the pages' sample for TypeScript registers, sends and reads, on Node.js",
  (node) => assertTypescriptWorks(node),
);
