import process from "node:process";
import { ExitCode } from "./exit_code.ts";
import { nodeHost } from "./node_host.ts";
import { run } from "./run.ts";

// A reader that stops reading (a pipe to head) must not look like a check that passed.
process.stdout.on("error", () => process.exit(ExitCode.malformed));
// Where nobody can be told, the exit code still tells.
process.stderr.on("error", () => {});

const host = nodeHost();
try {
  process.exitCode = await run(host);
} catch (thrown) {
  // Nor may a failure of the program or its machine look like a verdict: runtimes end with 1 then.
  process.exitCode = ExitCode.malformed;
  const { code, message, stack } = thrown as { code?: unknown; message?: string; stack?: string };
  await host.stderr(`relay: ${code === undefined ? stack ?? thrown : message}\n`);
}
