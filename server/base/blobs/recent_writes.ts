/**
 * Blobs that this process wrote lately. Only those may be kept, and no sweep of it takes them. Others
 * sweep what nobody has kept: so a blob is too old to be kept as soon as either clock says so, the wall
 * clock, which goes on while the machine sleeps, or the monotonic one, which nobody sets. This process's
 * own sweep goes by the monotonic one alone, whatever the wall clock says.
 *
 * Clocks can stand still with their process. What holds whatever they say is the number of sweeps that
 * the owner's record has (stored_bytes.ts).
 */
import type { Store } from "../storage/rows/store.ts";
import { MINUTE_MS } from "../time/time_units.ts";
import { type BlobName, nameText } from "./blob_name.ts";

/** Far below the hour after which others find a blob, and the hour that they wait then. */
const KEPT_WITHIN_MS = 10 * MINUTE_MS;
/** For how long a commit that keeps it may be on its way. */
const RECENT_MS = 20 * MINUTE_MS;

/** "written" until a commit was planned that keeps the blob: from then on it may be kept. */
export type WriteState = "written" | "planned";

interface Write {
  state: WriteState;
  atMs: number;
  elapsedMs: number;
  /** How many sweeps its owner had had before the write began. */
  sweeps: number;
}

export class RecentWrites {
  /** In the order of their writing. */
  readonly #writes = new Map<string, Write>();

  constructor(private readonly clocks: Pick<Store, "now" | "elapsed">) {}

  /** A write begins. @param sweeps that its owner has had until now */
  add(name: BlobName, sweeps: number): void {
    for (const [text, write] of this.#writes) {
      if (this.#isRecent(write)) break;
      this.#writes.delete(text);
    }
    const { now, elapsed } = this.clocks;
    this.#writes.set(nameText(name), {
      state: "written",
      atMs: now(),
      elapsedMs: elapsed(),
      sweeps,
    });
  }

  /**
   * A commit is planned that keeps the blob.
   * @param sweeps that its owner has had, by a record that the commit checks
   * @returns false for a blob that may not be kept
   */
  plan(name: BlobName, sweeps: number): boolean {
    const write = this.#writes.get(nameText(name));
    if (write === undefined || write.sweeps !== sweeps) return false;
    const { now, elapsed } = this.clocks;
    const ageMs = Math.max(now() - write.atMs, elapsed() - write.elapsedMs);
    if (ageMs >= KEPT_WITHIN_MS) return false;
    write.state = "planned";
    return true;
  }

  /** Undefined once the blob is not recent any more, or was given up. */
  stateOf(name: BlobName): WriteState | undefined {
    const write = this.#writes.get(nameText(name));
    return write !== undefined && this.#isRecent(write) ? write.state : undefined;
  }

  /** The blob will not be kept: plan() refuses it from now on. */
  giveUp(name: BlobName): void {
    this.#writes.delete(nameText(name));
  }

  #isRecent({ elapsedMs }: Write): boolean {
    return this.clocks.elapsed() - elapsedMs < RECENT_MS;
  }
}
