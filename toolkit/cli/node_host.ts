import process from "node:process";
import { systemClock } from "../client/clock.ts";
import { nodeDns } from "../node/dns_exchange.ts";
import { nodeFiles } from "../node/node_files.ts";
import type { Host } from "./host.ts";

const ENTER = new Set(["\r", "\n"]);
const INTERRUPT = "\u0003";
const END = "\u0004";
const ERASE = new Set(["\u0008", "\u007f"]);

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

/**
 * Asks on the terminal for a line that is not shown while it is typed.
 *
 * @throws {Error} when the person interrupts or ends the input
 */
async function askSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the prompt: whoever answers at once would see what was typed.
  stdin.setRawMode(true);
  stderr.write(prompt);
  stdin.setEncoding("utf8");
  stdin.ref();
  stdin.resume();
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed: string[] = [];
      function take(text: string): void {
        for (const character of text) {
          if (ENTER.has(character)) {
            stdin.off("data", take);
            return resolve(typed.join(""));
          }
          if (character === INTERRUPT || character === END) {
            stdin.off("data", take);
            return reject(new Error("no passphrase was typed"));
          }
          if (ERASE.has(character)) typed = typed.slice(0, -1);
          else typed.push(character);
        }
      }
      stdin.on("data", take);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    // Deno 2.5 leaves a read pending that would keep the process alive until the next key.
    stdin.unref();
    stderr.write("\n");
  }
}
