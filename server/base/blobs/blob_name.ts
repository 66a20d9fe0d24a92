/** Names of blobs: the folders of their owner, and a ULID. And where the file of such a name lies. */
import { ULID_PATTERN, ulidTimeMs } from "../storage/rows/ulid.ts";

/** Folders from the widest, and a ULID last. */
export type BlobName = readonly string[];

const FOLDER = /^[A-Za-z0-9_-]{1,64}$/;
/** With a separator each, and the end of a temporary name, below the 255 bytes of a file's name. */
const MAX_CHARACTERS = 230;
const ULID_CHARACTERS = 26;
const SEPARATOR = ".";
/** Ends the name of a file that is not whole yet; no name of a blob ends so. */
export const UNFINISHED = ".tmp";
/**
 * Files lie in folders of time, 9 hours and in them 17 minutes each: none holds more than a sweep reads at
 * one time, and most sweeps look into the last few. Their names are the first characters of a ULID.
 */
const OUTER_FOLDER = /^[0-7][0-9A-HJKMNP-TV-Z]{4}$/;
const INNER_FOLDER = /^[0-9A-HJKMNP-TV-Z]$/;
const OUTER_FOLDER_MS = 2 ** 25;
const INNER_FOLDER_MS = 2 ** 20;

/** @throws TypeError for what is no name of a blob; it is the code that is wrong then */
export function requireName(name: BlobName): void {
  if (isBlobName(name)) return;
  throw new TypeError("a blob's name is one or more folders of [A-Za-z0-9_-]{1,64}, and a ULID");
}

export function isBlobName(name: BlobName): boolean {
  return name.length >= 2 && ULID_PATTERN.test(name.at(-1)!) &&
    name.slice(0, -1).every((part) => FOLDER.test(part)) &&
    name.join(SEPARATOR).length <= MAX_CHARACTERS;
}

/** Unix ms at which a blob was written, by the clock of the process that wrote it. */
export function writtenMs(name: BlobName): number {
  return ulidTimeMs(name.at(-1)!);
}

/** One text for a name: unique, as no folder has a slash. */
export function nameText(name: BlobName): string {
  return name.join("/");
}

/** Where the file of a blob lies below the folder of all of them. */
export function blobPath(name: BlobName): [outer: string, inner: string, file: string] {
  requireName(name);
  const ulid = name.at(-1)!;
  return [ulid.slice(0, 5), ulid.slice(5, 6), name.join(SEPARATOR)];
}

/** The blob that a file belongs to; null for a file of somebody else's. */
export function blobOfFile(file: string): { name: BlobName; isFinished: boolean } | null {
  const isFinished = !file.endsWith(UNFINISHED);
  const name = (isFinished ? file : file.slice(0, -UNFINISHED.length)).split(SEPARATOR);
  return isBlobName(name) ? { name, isFinished } : null;
}

/** Whether a folder may hold blobs that were written since then; false for somebody else's. */
export function isFolderSince(sinceMs: number, outer: string, inner?: string): boolean {
  if (!OUTER_FOLDER.test(outer)) return false;
  if (inner === undefined) return ulidTimeMs(outer) + OUTER_FOLDER_MS >= sinceMs;
  return INNER_FOLDER.test(inner) && ulidTimeMs(outer + inner) + INNER_FOLDER_MS >= sinceMs;
}

/** The last of all names whose files can lie in a folder. @param folder outer, or outer and inner */
export function lastNameIn(folder: string): BlobName {
  return ["-", folder.padEnd(ULID_CHARACTERS, "Z")];
}
