/**
 * Large immutable bytes beside the store. A blob is written once, before the commit that names it;
 * one that no commit has kept within an hour is swept. It is made of sections, each of which is read
 * and checked by itself.
 */
import type { Transaction } from "../storage/commits/job.ts";

export { BlobDamaged } from "./blob_damaged.ts";

/** A part of a blob. */
export interface BlobSection {
  sizeBytes: number;
  /** SHA-256 of the bytes, base64url without padding. */
  sha256: string;
}

/** What a record keeps of a blob; plain data of some 100 bytes a section. */
export interface BlobRef {
  /** Folders and a name of its own, each of [A-Za-z0-9_-]{1,64}. */
  name: readonly string[];
  sections: readonly BlobSection[];
}

export interface Blobs {
  /**
   * Stores bytes durably under a new name. Until keep() is committed nothing but the sweep knows them.
   * @param folder whose it is, from the widest: an org, then an inbox
   * @param known SHA-256 of the first sections, base64url, where the caller has hashed them already
   * @throws RelayError `unavailable` when the disk has no room
   */
  write(
    folder: readonly string[],
    sections: readonly Uint8Array[],
    known?: readonly string[],
  ): Promise<BlobRef>;
  /**
   * In the commit of the record that names it: the blob stays, and counts among the bytes of its owner
   * (stored_bytes.ts). Only what this process wrote within the last ten minutes can be kept, by the wall
   * clock and by the monotonic one.
   * @throws RelayError `unavailable` for what was written longer ago by either, or given up
   */
  keep(transaction: Transaction, ref: BlobRef): void;
  /**
   * In the commit that takes the record away: the blob goes, an hour later at the soonest, and counts
   * until then.
   * @param isCounted false for one that a former version kept without counting it
   */
  drop(transaction: Transaction, ref: BlobRef, isCounted?: boolean): void;
  /**
   * Gives up a blob that was written and will not be kept; failing is no harm, the sweep comes. A blob
   * that a plan has kept is left to the sweep: its commit may still come though its caller heard 503.
   */
  discard(ref: BlobRef): Promise<void>;
  /**
   * The bytes of one section, checked against their hash.
   * @throws BlobDamaged when they are missing, short or other than they were; logged once a blob
   */
  read(ref: BlobRef, section: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * One commit of a sweep that drops every kept blob in a folder, for owners that are gone: nothing is
   * counted any more.
   * @returns whether there may be more
   */
  dropSome(folder: readonly string[]): Promise<boolean>;
  /** @throws RelayError `unavailable` with Retry-After while the disk has less free than mailMinFreeDiskBytes */
  refuseWhenFull(): Promise<void>;
}
