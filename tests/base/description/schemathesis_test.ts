import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { isLong } from "../../support/long_test.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import { startTestRelay } from "../../support/relay.ts";

/** The same requests each time; PROPERTY_SEED has schemathesis try others. */
const SEED = Deno.env.get("PROPERTY_SEED") ?? "1";
const MANY = 1_000_000;

await pythonOrSkip(
  pathOf("schemathesis_requirements.txt"),
  ["schemathesis", "cryptography"],
  "schemathesis finds no answer that is not as described, and no request that is taken otherwise",
  async (run) => {
    await using relay = await startTestRelay({
      clockStartMs: "real",
      deps: { now: Date.now },
      limits: {
        registrationsPerIpPerHour: MANY,
        toolRegistrationsPerIpPerHour: MANY,
        sendsPerAgentPerMinute: MANY,
        searchesPerIpPerMinute: MANY,
        inboxPollIntervalMs: 0,
        waitingPolls: 0,
      },
    });
    const { code, stdout, stderr } = await run([
      pathOf("schemathesis_program.py"),
      relay.url,
      `--config-file=${pathOf("schemathesis.toml")}`,
      "run",
      `--seed=${SEED}`,
      `--max-examples=${isLong ? 10 : 3}`,
      "--phases=examples,coverage,fuzzing",
      // Off, each of its routes answers 503.
      "--exclude-tag=Mail",
      "--continue-on-failure",
      "--generation-database=none",
      "--no-color",
    ]);
    const failures = stdout.slice(Math.max(0, stdout.indexOf("= FAILURES")));
    assert.equal(code, 0, `${failures}\n${stderr}`);
    const count = Number(/(\d+) generated/.exec(stdout)?.[1]);
    assert.ok(count > 500, stdout);
  },
);

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
