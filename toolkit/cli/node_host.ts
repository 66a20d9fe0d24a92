import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { systemClock } from "../client/clock.ts";
import { askSecret } from "./ask_secret.ts";
import { withFileLock } from "./file_lock.ts";
import type { Host } from "./host.ts";

/** The host by node:* modules, which Deno, Node and Bun all have. */
export function nodeHost(): Host {
  return {
    args: process.argv.slice(2),
    env: (name) => process.env[name],
    stdin: () => process.stdin,
    readFile: (path) => createReadStream(path),
    writePrivateFile,
    withLock: (lockPath, work) => withFileLock(lockPath, work),
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

async function writePrivateFile(path: string, text: string, overwrite: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (!overwrite) return await createPrivateFile(path, text);
  // Beside the old one and then in its place, so that there is no moment without a key. Not named
  // by the process alone: what one that was killed has left may be of the same number.
  const draft = `${path}.${randomUUID()}.new`;
  await createPrivateFile(draft, text);
  await rename(draft, path);
}

/** Fails with EEXIST when there is one; what was begun and could not be ended is removed. */
async function createPrivateFile(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (thrown) {
    await unlink(path);
    throw thrown;
  } finally {
    await file.close();
  }
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => error ? reject(error) : resolve());
  });
}
