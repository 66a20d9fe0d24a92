import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, open, rename, stat, unlink } from "node:fs/promises";
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

/**
 * Written beside the place and then put there, so that no moment has a part of it, nor none where
 * there was one. The draft is not named by the process alone: what one that was killed has left may
 * be of the same number.
 */
async function writePrivateFile(path: string, text: string, overwrite: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.new`;
  await createFile(draft, text);
  if (overwrite) return await rename(draft, path);
  try {
    await link(draft, path);
  } catch (thrown) {
    if (!NO_LINKS.has((thrown as { code?: unknown }).code)) throw thrown;
    await createFile(path, text);
  } finally {
    await unlink(draft);
  }
}

/** What file systems without hard links answer; there a file is written in its place. */
const NO_LINKS = new Set<unknown>(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Fails with EEXIST when there is one; what was begun and could not be ended is removed. */
async function createFile(path: string, text: string): Promise<void> {
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
