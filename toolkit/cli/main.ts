import process from "node:process";
import { nodeHost } from "./node_host.ts";
import { run } from "./run.ts";

// A reader that stops reading (a pipe to head) must not look like a check that passed.
process.stdout.on("error", () => process.exit(2));

process.exitCode = await run(nodeHost());
