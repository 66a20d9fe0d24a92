import { open, stat, unlink } from "node:fs/promises";
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

/**
 * Removes a lock that was left behind. A second lock lets only one process do so at a time. Without
 * it, a slow process could remove the new lock of a faster one.
 *
 * @returns whether there may be no lock any more
 */
async function removeStale(path: string, staleMs: number): Promise<boolean> {
  if (!await isStale(path, staleMs)) return false;
  const takeover = `${path}.takeover`;
  if (!await makeLock(takeover)) {
    // Its holder needs a moment for it, or has died in that moment.
    if (await isStale(takeover, staleMs)) await unlink(takeover).catch(ignoreMissing);
    return false;
  }
  try {
    if (!await isStale(path, staleMs)) return false;
    await unlink(path).catch(ignoreMissing);
    return true;
  } finally {
    await unlink(takeover).catch(ignoreMissing);
  }
}

async function isStale(path: string, staleMs: number): Promise<boolean> {
  const found = await stat(path).catch(ignoreMissing);
  return found !== undefined && Date.now() - found.mtimeMs >= staleMs;
}

function ignoreMissing(thrown: unknown): undefined {
  if ((thrown as { code?: unknown }).code !== "ENOENT") throw thrown;
}
