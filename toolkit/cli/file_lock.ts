import { randomUUID } from "node:crypto";
import { open, rename, stat, unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** Work under a lock reads and writes one small file; who holds it for this long has died. */
const STALE_MS = 10_000;
const LOOK_AGAIN_MS = 15;

/**
 * Does work while no other process does any under the same lock: the lock is a file that only one
 * process can have made. One that was left behind by a process that died is taken over.
 *
 * @param path of the lock; its folder is there
 * @param staleMs how old a lock must be to have been left behind
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  staleMs = STALE_MS,
): Promise<T> {
  while (!await makeLock(path)) {
    if (!await removeStale(path, staleMs)) await delay(LOOK_AGAIN_MS);
  }
  try {
    return await work();
  } finally {
    await unlink(path).catch(ignoreMissing);
  }
}

async function makeLock(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "EEXIST") return false;
    throw thrown;
  }
}

/** @returns whether there may be no lock any more */
async function removeStale(path: string, staleMs: number): Promise<boolean> {
  const before = await stat(path).catch(ignoreMissing);
  if (before === undefined) return true;
  if (Date.now() - before.mtimeMs < staleMs) return false;
  // Of several that find it, one renames it away. What another has made meanwhile is put back.
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (thrown) {
    ignoreMissing(thrown);
    return true;
  }
  const taken = await stat(aside);
  if (taken.ino !== before.ino || taken.mtimeMs !== before.mtimeMs) {
    await rename(aside, path);
    return false;
  }
  await unlink(aside);
  return true;
}

function ignoreMissing(thrown: unknown): undefined {
  if ((thrown as { code?: unknown }).code !== "ENOENT") throw thrown;
}
