import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import { withFileLock } from "./file_lock.ts";
import type { FileSystem } from "./file_system.ts";

/** The file system by node:* modules, which Deno, Node.js and Bun all have. */
export const nodeFiles: FileSystem = {
  readFile: (path) => createReadStream(path),
  writePrivateFile,
  fileMode,
  async withLock(lockPath, work) {
    await mkdir(dirname(lockPath), { recursive: true, mode: 0o700 });
    return await withFileLock(lockPath, work);
  },
};

async function fileMode(path: string): Promise<number | undefined> {
  // There the bits say nothing of who may read.
  if (process.platform === "win32") return undefined;
  return await stat(path).then(({ mode }) => mode & 0o777, () => undefined);
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
