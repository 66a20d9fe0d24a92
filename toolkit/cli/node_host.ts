import { createReadStream } from "node:fs";
import { link, mkdir, rename, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import type { Host } from "./host.ts";

/** The host by node:* modules, which Deno, Node and Bun all have. */
export function nodeHost(): Host {
  return {
    args: process.argv.slice(2),
    env: (name) => process.env[name],
    stdin: () => process.stdin,
    readFile: (path) => createReadStream(path),
    writePrivateFile,
    stdout: (text) => write(process.stdout, text),
    stderr: (text) => write(process.stderr, text),
  };
}

async function writePrivateFile(path: string, text: string, overwrite: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600, flag: "wx" });
  try {
    // A link fails when the name is taken, a rename replaces; neither leaves half a file.
    await (overwrite ? rename(draft, path) : link(draft, path));
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => error ? reject(error) : resolve());
  });
}
