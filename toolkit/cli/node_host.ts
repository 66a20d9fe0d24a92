import process from "node:process";
import { systemClock } from "../client/clock.ts";
import { nodeDns } from "../node/dns_exchange.ts";
import { nodeFiles } from "../node/node_files.ts";
import { askSecret } from "./ask_secret.ts";
import type { Host } from "./host.ts";

/** The host by node:* modules, which Deno, Node and Bun all have. */
export function nodeHost(): Host {
  return {
    ...nodeFiles,
    ...nodeDns,
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
