/** Names of blobs: the folders of their owner, and a ULID. */
import { ULID_PATTERN, ulidTimeMs } from "../storage/rows/ulid.ts";

/** Folders from the widest, and a ULID last. */
export type BlobName = readonly string[];

const FOLDER = /^[A-Za-z0-9_-]{1,64}$/;
/** With a separator each, and the end of a temporary name, below the 255 bytes of a file's name. */
const MAX_CHARACTERS = 230;

/** @throws TypeError for folders that no blob can have; it is the code that is wrong then */
export function requireFolder(folder: readonly string[]): void {
  if (folder.length === 0 || !folder.every((part) => FOLDER.test(part))) {
    throw new TypeError("a blob's folders are one or more of [A-Za-z0-9_-]{1,64}");
  }
}

/** @throws TypeError for what is no name of a blob */
export function requireName(name: BlobName): void {
  if (!isBlobName(name)) throw new TypeError("a blob's name is its folders and a ULID");
}

export function isBlobName(name: BlobName): boolean {
  return name.length >= 2 && ULID_PATTERN.test(name.at(-1)!) &&
    name.slice(0, -1).every((part) => FOLDER.test(part)) &&
    name.join(".").length <= MAX_CHARACTERS;
}

/** Unix ms at which a blob was written, by the clock of the process that wrote it. */
export function writtenMs(name: BlobName): number {
  return ulidTimeMs(name.at(-1)!);
}

/** One text for a name: unique, as no folder has a slash. */
export function nameText(name: BlobName): string {
  return name.join("/");
}
