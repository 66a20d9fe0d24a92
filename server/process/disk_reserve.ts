/** A file of no use but its size: what the embedded store gets when the disk has nothing left. */
import { join } from "node:path";
import type { Log } from "../base/log.ts";

/** A disk with less than this is not started on: the store's own start needs room for its log. */
export const START_FLOOR_BYTES = 8 * 2 ** 20;
/** Size of the reserve, and the free bytes below which it is given up. */
export const RESERVE_BYTES = 16 * 2 ** 20;
/** On a small disk the reserve is at most this share of the free space. */
const SHARE_OF_FREE = 8;
const RESERVE_FILE = "disk.reserve";
const CHUNK_BYTES = 2 ** 20;
const WATCH_MS = 2_000;

/** A disk on which the relay would not survive its own start. The message says what to do. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
  constructor(path: string, freeBytes: number) {
    const [free, floor] = [freeBytes, START_FLOOR_BYTES].map((bytes) =>
      (bytes / 2 ** 20).toFixed(1)
    );
    super(
      `the disk of RELAY_DATA_DIR ${path} has ${free} MiB free, and a start needs ${floor} MiB: ` +
        "make room on it and start again, nothing has to be repaired",
    );
  }
}

export interface DiskReserveOptions {
  /** The data folder. */
  path: string;
  /** Bytes that an unprivileged process may still write on its disk. */
  measureFreeBytes: () => Promise<number>;
  /** The reserve leaves at least so much free when it is made. */
  minFreeBytes: number;
  log: Log;
}

/** The reserve of one data folder. Relays that share the folder share the file. */
export class DiskReserve {
  readonly #file: string;
  #watch: ReturnType<typeof setInterval> | undefined;
  #working: Promise<void> | undefined;

  constructor(private readonly options: DiskReserveOptions) {
    this.#file = join(options.path, RESERVE_FILE);
  }

  /**
   * Before anything of a start is written: gives the reserve up where less than the floor is free.
   * A disk that cannot be measured is not called full.
   * @throws DiskFullError when even that is not enough
   */
  async requireRoom(): Promise<void> {
    if (await this.#freeBytes() >= START_FLOOR_BYTES) return;
    await this.#remove();
    const freeBytes = await this.#freeBytes();
    if (freeBytes < START_FLOOR_BYTES) throw new DiskFullError(this.options.path, freeBytes);
  }

  /** Makes the reserve where there is room for it, and looks every two seconds from now on. */
  async keep(): Promise<void> {
    await this.#make();
    this.#watch = setInterval(() => void this.check(), WATCH_MS);
    Deno.unrefTimer(Number(this.#watch));
  }

  /** Gives the reserve up on a disk that runs full, makes it again once there is room. */
  check(): Promise<void> {
    return this.#working ??= this.#check().finally(() => this.#working = undefined);
  }

  async #check(): Promise<void> {
    const freeBytes = await this.#freeBytes();
    if (freeBytes < RESERVE_BYTES) return await this.#giveUp(freeBytes);
    if (freeBytes >= this.options.minFreeBytes + 2 * RESERVE_BYTES) await this.#make();
  }

  /** The store failed to write: gives the reserve up where that was for want of room. */
  async writeFailed(failure: unknown): Promise<void> {
    const reason = failure instanceof Error ? failure.message : String(failure);
    if (/database or disk is full|No space left on device|quota exceeded/i.test(reason)) {
      await this.#giveUp(await this.#freeBytes());
    }
  }

  /** Ends the watch. The file stays. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    await this.#working;
  }

  async #giveUp(freeBytes: number): Promise<void> {
    if (await this.#remove()) {
      this.options.log("disk_reserve_given_up", {
        free_bytes: Math.min(freeBytes, Number.MAX_SAFE_INTEGER),
      });
    }
  }

  /** @returns false where there was none */
  async #remove(): Promise<boolean> {
    return await Deno.remove(this.#file).then(() => true, () => false);
  }

  /** A reserve that cannot be made must not stop what works: then there is none. */
  async #make(): Promise<void> {
    try {
      if (await sizeOf(this.#file) > 0) return;
      const freeBytes = await this.#freeBytes();
      if (!Number.isFinite(freeBytes)) return;
      const sizeBytes = Math.min(RESERVE_BYTES, Math.floor(freeBytes / SHARE_OF_FREE));
      if (freeBytes - sizeBytes < Math.max(this.options.minFreeBytes, START_FLOOR_BYTES)) return;
      await write(this.#file, sizeBytes);
    } catch {
      await this.#remove();
    }
  }

  async #freeBytes(): Promise<number> {
    return await this.options.measureFreeBytes().catch(() => Infinity);
  }
}

async function sizeOf(path: string): Promise<number> {
  return await Deno.stat(path).then(({ size }) => size, () => 0);
}

/** Writes what no file system makes smaller: bytes that do not compress. */
async function write(path: string, sizeBytes: number): Promise<void> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < chunk.length; at += 65_536) {
    crypto.getRandomValues(chunk.subarray(at, at + 65_536));
  }
  using file = await Deno.open(path, { create: true, write: true, truncate: true, mode: 0o600 });
  for (let left = sizeBytes; left > 0;) {
    left -= await file.write(chunk.subarray(0, Math.min(left, chunk.length)));
  }
}
