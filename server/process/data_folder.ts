/** The folder of the embedded store, held by a lock so that two modes of use never mix. */
import { join } from "node:path";
import { DiskFullError } from "./disk_reserve.ts";
import { doneWithin } from "../base/time/done_within.ts";

export interface DataFolder {
  path: string;
  /** Path of the embedded store. */
  kvPath: string;
  /** False once the file `lock` was deleted or replaced: another relay may hold the folder by now. */
  isHeld(): Promise<boolean>;
  /** Gives the folder free for others. */
  release(): Promise<void>;
}

export interface FolderUse {
  /** Several relays may hold the folder, none alone. */
  shared: boolean;
  /** Start of this relay, for the holder's file. */
  nowMs: number;
  /** Called once the folder is held, before anything is written to it; its failure gives it free. */
  whenHeld?: () => Promise<void>;
}

/** The holder of a folder, as the file beside the lock names it. */
export interface LockHolder {
  pid: number;
  /** RFC 3339. */
  started_at: string;
}

/** A folder that another relay holds. The message names the holders. */
export class DataFolderInUseError extends Error {
  override readonly name = "DataFolderInUseError";
}

/** A folder that cannot be made, or not be written to. */
export class UnusableDataFolderError extends Error {
  override readonly name = "UnusableDataFolderError";
  constructor(path: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `RELAY_DATA_DIR ${path} is not usable (${reason}): name a folder on a local disk that this relay may write to`,
      { cause },
    );
  }
}

const LOCK_FILE = "lock";
const HOLDER_PREFIX = "lock.holder.";
/** How long a runtime without FsFile.tryLock (Deno before 2.7) may wait for the lock. */
const LOCK_WAIT_MS = 1000;
/** How often a lock is taken that somebody deletes meanwhile; some network folders give files new numbers. */
const LOCK_TRIES = 10;

/**
 * Takes the folder, creating it when it is missing. The lock is the operating system's on an open
 * file: it dies with the process, however that ends.
 * @throws DataFolderInUseError when the lock is not to be had; UnusableDataFolderError; DiskFullError
 * of whenHeld
 */
export async function openDataFolder(path: string, options: FolderUse): Promise<DataFolder> {
  try {
    return await takeFolder(path, options);
  } catch (error) {
    if (error instanceof DataFolderInUseError || error instanceof DiskFullError) throw error;
    throw new UnusableDataFolderError(path, error);
  }
}

async function takeFolder(path: string, options: FolderUse): Promise<DataFolder> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  const lockPath = join(path, LOCK_FILE);
  const lock = await takeLock(lockPath, !options.shared);
  if (lock === null) {
    throw new DataFolderInUseError(inUseMessage(path, await readHolders(path), options.shared));
  }
  // The pid alone is no name: relays in containers that share a folder may all be pid 1.
  const holderPath = join(path, `${HOLDER_PREFIX}${Deno.pid}-${crypto.randomUUID().slice(0, 8)}`);
  let holder: Deno.FsFile;
  try {
    await options.whenHeld?.();
    await readHolders(path); // sweeps what killed relays left
    holder = await writeHolder(holderPath, options.nowMs);
  } catch (error) {
    lock.close();
    throw error;
  }
  return {
    path,
    kvPath: join(path, "relay.kv"),
    isHeld: () => isFileAt(lock, lockPath),
    async release() {
      await Deno.remove(holderPath).catch(() => {});
      holder.close();
      lock.close();
    },
  };
}

/** The open file with its lock; null where another relay holds it. */
async function takeLock(path: string, exclusive: boolean): Promise<Deno.FsFile | null> {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    const lock = await Deno.open(path, { create: true, read: true, write: true });
    try {
      if (!await tryLock(lock, exclusive)) {
        lock.close();
        return null;
      }
      if (await isFileAt(lock, path)) return lock;
    } catch (error) {
      lock.close();
      throw error;
    }
    lock.close(); // deleted between the two: its lock keeps nobody out
  }
  throw new Error("the file lock is another one each time it is opened");
}

/**
 * Whether the path still names the open file; where files have no numbers, any file there is it. Windows
 * has numbers of devices for paths, and none for open files.
 */
async function isFileAt(file: Deno.FsFile, path: string): Promise<boolean> {
  try {
    const [open, named] = await Promise.all([file.stat(), Deno.stat(path)]);
    return open.ino === null || open.ino === named.ino && open.dev === named.dev;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Writes who holds the folder; the open file is locked too, so that readers tell the living. */
async function writeHolder(path: string, startedAtMs: number): Promise<Deno.FsFile> {
  const file = await Deno.open(path, { createNew: true, read: true, write: true });
  const holder: LockHolder = {
    pid: Deno.pid,
    started_at: new Date(startedAtMs).toISOString(),
  };
  await file.write(new TextEncoder().encode(JSON.stringify(holder) + "\n"));
  await tryLock(file, true);
  return file;
}

/** Deno 2.5 has no tryLock, and its types do not know of it. */
type LockableFile = Deno.FsFile & { tryLock?(exclusive?: boolean): Promise<boolean> };

async function tryLock(file: LockableFile, exclusive: boolean): Promise<boolean> {
  if (typeof file.tryLock === "function") return await file.tryLock(exclusive);
  return await doneWithin(file.lock(exclusive), LOCK_WAIT_MS);
}

/** The living holders; files of those that died without removing theirs are swept. */
async function readHolders(path: string): Promise<LockHolder[]> {
  const holders: LockHolder[] = [];
  for await (const { name } of Deno.readDir(path)) {
    if (!name.startsWith(HOLDER_PREFIX)) continue;
    const holderPath = join(path, name);
    try {
      if (await isAbandoned(holderPath)) {
        await Deno.remove(holderPath);
        continue;
      }
      const { pid, started_at } = JSON.parse(await Deno.readTextFile(holderPath));
      holders.push({ pid: Number(pid), started_at: String(started_at) });
    } catch {
      // Half-written or just removed: the lock alone decides, this only names.
    }
  }
  return holders.sort((a, b) => a.pid - b.pid);
}

async function isAbandoned(holderPath: string): Promise<boolean> {
  using file: LockableFile = await Deno.open(holderPath, { read: true, write: true });
  // Without tryLock a living holder would cost the whole wait: name the dead with the living.
  return typeof file.tryLock === "function" && await file.tryLock(true);
}

function inUseMessage(path: string, holders: readonly LockHolder[], shared: boolean): string {
  const named = holders.map(({ pid, started_at }) => `pid ${pid}, started ${started_at}`);
  const who = named.length === 0 ? "which has not written its pid yet" : named.join("; ");
  const advice = shared
    ? "it does not share its store: stop it, or start it with RELAY_SHARED_STORE=true too"
    : "stop it, give this relay another RELAY_DATA_DIR, or set RELAY_SHARED_STORE=true for all of them";
  return `RELAY_DATA_DIR ${path} is held by another relay (${who}): ${advice}`;
}
