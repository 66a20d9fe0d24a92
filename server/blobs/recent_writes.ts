/**
 * Blobs that this process wrote lately. Only those may be kept, and no sweep of it takes them, whatever
 * the clock says: their age is counted in turns of the process's own work, which stand still while the
 * process does.
 */
import { type BlobName, nameText } from "./blob_name.ts";

/** Turns, of a minute each, after which a generation ends; a blob is recent for one or two of them. */
const TURNS_A_GENERATION = 10;

/** "written" until a commit was planned that keeps the blob: from then on it may be kept. */
export type WriteState = "written" | "planned";

export class RecentWrites {
  #current = new Map<string, WriteState>();
  #former = new Map<string, WriteState>();
  #turns = 0;

  /** A write begins. */
  add(name: BlobName): void {
    this.#current.set(nameText(name), "written");
  }

  /** A commit was planned that keeps the blob. @returns false for a blob that may not be kept */
  plan(name: BlobName): boolean {
    const text = nameText(name);
    const generation = [this.#current, this.#former].find((writes) => writes.has(text));
    generation?.set(text, "planned");
    return generation !== undefined;
  }

  /** Undefined once the blob is not recent any more, or was given up. */
  stateOf(name: BlobName): WriteState | undefined {
    const text = nameText(name);
    return this.#current.get(text) ?? this.#former.get(text);
  }

  /** The blob will not be kept: plan() refuses it from now on. */
  giveUp(name: BlobName): void {
    const text = nameText(name);
    this.#current.delete(text);
    this.#former.delete(text);
  }

  /** Called once a minute. */
  turn(): void {
    if (++this.#turns % TURNS_A_GENERATION !== 0) return;
    this.#former = this.#current;
    this.#current = new Map();
  }
}
