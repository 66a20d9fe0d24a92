/** The protocol's own conformance suite, of both eras, and the Inspector's lint of the schemas. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { isLong } from "../../support/long_test.ts";
import { programOrSkip, type ProgramRun } from "../../support/npm_program.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startTestRelay } from "../../support/relay.ts";
import { MAIL_TOOL_NAMES } from "../../support/mail_tools.ts";
import { TOOL_NAMES } from "../../support/tool_client.ts";

interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  errorMessage?: string;
}

/** Both tool servers, by their paths, with their tools. */
const SERVERS = [
  { path: "/mcp", start: startTestRelay, tools: TOOL_NAMES },
  { path: "/mcp/mail", start: startMailRelay, tools: MAIL_TOOL_NAMES },
] as const;
type Server = (typeof SERVERS)[number];

/** What a scenario found. */
async function runScenario(
  run: ProgramRun,
  { path, start }: Server,
  scenario: string,
  args: readonly string[] = [],
): Promise<Check[]> {
  await using relay = await start();
  const folder = await Deno.makeTempDir({ prefix: "relay-conformance-" });
  try {
    const { stdout, stderr } = await run([
      "server",
      ...["--url", `${relay.url}${path}`, "--scenario", scenario, "-o", folder],
      ...args,
    ]);
    const [result] = await Array.fromAsync(Deno.readDir(folder));
    assert.ok(result !== undefined, `${stdout}\n${stderr}`);
    return JSON.parse(await Deno.readTextFile(join(folder, result.name, "checks.json")));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function assertAllPassed(checks: readonly Check[]): void {
  assert.ok(checks.length > 0);
  assert.deepEqual(checks.filter(({ status }) => status !== "SUCCESS"), []);
}

type Tests = Record<string, (run: ProgramRun) => Promise<void>>;

/** The same for each server. */
function forEachServer(make: (server: Server) => Tests): Tests {
  return Object.assign({}, ...SERVERS.map(make));
}

/** All of them at one server; at the other, which answers by the same code, without --long one. */
function scenarios(server: Server, all: readonly string[], args: readonly string[] = []): Tests {
  const names = isLong || server.path === "/mcp" ? all : all.filter((one) => one === "tools-list");
  return Object.fromEntries(names.map((name) => [
    `conformance of ${server.path}: ${name} ${args.join(" ")}`.trim(),
    async (run: ProgramRun) => assertAllPassed(await runScenario(run, server, name, args)),
  ]));
}

const SUITE = { name: "@modelcontextprotocol/conformance", entry: "dist/index.js" };
const STATELESS = ["--spec-version", "2026-07-28"];

await programOrSkip(
  { ...SUITE, version: "0.1.16" },
  forEachServer((server) =>
    scenarios(server, ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])
  ),
);

await programOrSkip(
  { ...SUITE, version: "0.2.0-alpha.12" },
  forEachServer((server) => ({
    ...scenarios(
      server,
      ["http-header-validation", "tools-list", "dns-rebinding-protection"],
      STATELESS,
    ),
    async [`conformance of ${server.path}: server-stateless --spec-version 2026-07-28`](run) {
      const checks = await runScenario(run, server, "server-stateless", STATELESS);
      const passed = checks.filter(({ status }) => status === "SUCCESS");
      assert.ok(passed.length >= 21, JSON.stringify(checks));
      for (const { id, status, errorMessage = "" } of checks) {
        // Four checks want diagnostic tools of the suite's own reference server, the skipped ones
        // list changes, which are not announced here.
        const applies = status !== "SKIPPED" && !errorMessage.startsWith("Not testable: ");
        if (applies) assert.equal(status, "SUCCESS", `${id}: ${errorMessage}`);
      }
    },
  })),
);

await programOrSkip(
  {
    name: "@modelcontextprotocol/inspector",
    version: "2.12.0",
    entry: "clients/launcher/build/index.js",
  },
  forEachServer(({ path, start, tools }) => ({
    async [`inspector --strict finds nothing wrong with the schemas of ${path}`](run) {
      await using relay = await start();
      const { code, stdout, stderr } = await run([
        ...["--cli", `${relay.url}${path}`, "--transport", "http"],
        ...["--method", "tools/list", "--strict"],
      ]);
      assert.equal(code, 0, stderr);
      const listed = JSON.parse(stdout).tools.map(({ name }: { name: string }) => name);
      assert.deepEqual(listed, [...tools]);
      assert.ok(!/(^|\n)(Warning|Error): /.test(stderr), stderr);
    },
  })),
);
