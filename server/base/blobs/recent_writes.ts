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

interface Write {
  /** Whether a commit was planned that keeps the blob: from then on it may be kept. */
  isPlanned: boolean;
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
    const [atMs, elapsedMs] = [this.clocks.now(), this.clocks.elapsed()];
    this.#writes.set(nameText(name), { isPlanned: false, atMs, elapsedMs, sweeps });
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
    return write.isPlanned = true;
  }

  /** Whether the blob is recent, and was not given up. */
  has(name: BlobName): boolean {
    return this.#isRecent(this.#writes.get(nameText(name)));
  }

  /**
   * The blob will not be kept: plan() refuses it from now on.
   * @returns false where a commit that keeps it may still come to the store, or it is not recent
   */
  giveUp(name: BlobName): boolean {
    if (!this.has(name) || this.#writes.get(nameText(name))!.isPlanned) return false;
    return this.#writes.delete(nameText(name));
  }

  #isRecent(write: Write | undefined): boolean {
    return write !== undefined && this.clocks.elapsed() - write.elapsedMs < RECENT_MS;
  }
}
