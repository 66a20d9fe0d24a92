/**
 * Where the file of a blob lies below the folder of all of them. The folders are those of time, 17
 * minutes each: none holds more than a sweep reads at one time, and most sweeps look into the last few.
 */
import { ulidTimeMs } from "../storage/rows/ulid.ts";
import { type BlobName, isBlobName, requireName } from "./blob_name.ts";

/** Characters of a ULID that name the outer folder: 2^25 ms, nine hours. */
const OUTER = 5;
/** One more names the inner folder: 2^20 ms. */
const OUTER_FOLDER = /^[0-7][0-9A-HJKMNP-TV-Z]{4}$/;
const INNER_FOLDER = /^[0-9A-HJKMNP-TV-Z]$/;
export const OUTER_FOLDER_MS = 2 ** 25;
export const INNER_FOLDER_MS = 2 ** 20;

const SEPARATOR = ".";
/** Ends the name of a file that is not whole yet; no name of a blob ends so. */
export const UNFINISHED = ".tmp";

/** @returns outer folder, inner folder, file name */
export function blobPath(name: BlobName): [outer: string, inner: string, file: string] {
  requireName(name);
  const ulid = name.at(-1)!;
  return [ulid.slice(0, OUTER), ulid.slice(OUTER, OUTER + 1), name.join(SEPARATOR)];
}

/** The blob that a file belongs to; null for a file of somebody else's. */
export function blobOfFile(file: string): { name: BlobName; isFinished: boolean } | null {
  const isFinished = !file.endsWith(UNFINISHED);
  const whole = isFinished ? file : file.slice(0, -UNFINISHED.length);
  const name = whole.split(SEPARATOR);
  return isBlobName(name) ? { name, isFinished } : null;
}

/** First ms of the time that a folder is of; null for a folder of somebody else's. */
export function folderTimeMs(outer: string, inner?: string): number | null {
  if (!OUTER_FOLDER.test(outer)) return null;
  if (inner !== undefined && !INNER_FOLDER.test(inner)) return null;
  return ulidTimeMs(outer + (inner ?? ""));
}
