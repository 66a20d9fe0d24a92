import process from "node:process";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { systemClock } from "../client/clock.ts";
import { callMailServer } from "../node/call_mail_server.ts";
import { nodeDns } from "../node/dns_exchange.ts";
import { nodeHttp } from "../node/http_receiver.ts";
import { nodeFiles } from "../node/node_files.ts";
import { ExitCode } from "./failure.ts";
import type { Host } from "./host.ts";
import { run } from "./run.ts";

// A reader that stops reading (a pipe to head) must not look like a check that passed.
process.stdout.on("error", () => process.exit(ExitCode.malformed));
// Where nothing can be printed, the exit code still tells.
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

/** The host by node:* modules, which Deno, Node and Bun all have. */
function nodeHost(): Host {
  return {
    ...nodeFiles,
    ...nodeDns,
    ...nodeHttp,
    args: process.argv.slice(2),
    env: (name) => process.env[name],
    stdin: () => process.stdin,
    stdout: (text) => write(process.stdout, text),
    // Diagnostics: what cannot be told must not change what was found.
    stderr: (text) => write(process.stderr, text).catch(() => {}),
    isTerminal: (stream) => process[stream].isTTY === true,
    askSecret,
    interruption,
    fetch: (input, init) => fetch(input, init),
    callMailServer,
    clock: systemClock,
  };
}

function interruption(): AbortSignal {
  const abort = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => abort.abort());
  }
  return abort.signal;
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => error ? reject(error) : resolve());
  });
}

/**
 * Asks on the terminal for a line that is not shown while it is typed.
 *
 * @throws {Error} when the person interrupts or ends the input
 */
async function askSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the prompt: a person who answers at once would see what they type.
  const lines = createInterface({ input: stdin, output: nowhere(), terminal: true });
  stderr.write(prompt);
  stdin.ref();
  try {
    return await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("close", () => reject(new Error("no passphrase was typed")));
    });
  } finally {
    lines.close();
    // Deno 2.5 leaves a read pending that would keep the process alive until the next key.
    stdin.unref();
    stderr.write("\n");
  }
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
