/** Files that outlive a power cut, and are whole once they have their name. */
import { dirname } from "node:path";
import { flushFolder } from "../files/flush_folder.ts";

export interface FileToWrite {
  path: string;
  /** In the same folder. */
  temporaryPath: string;
  sections: readonly Uint8Array[];
}

/** The runtime copies what is written before another thread writes it: so many at one time. */
const PIECE_BYTES = 512 * 1024;

/**
 * Writes files so that they outlive a power cut once this returns; what fails leaves is the caller's to
 * remove.
 * @returns of each file null, or why it failed
 * @throws what keeps their folders from being flushed
 */
export async function writeFiles(files: readonly FileToWrite[]): Promise<unknown[]> {
  const written = await Promise.allSettled(files.map(writeFile));
  const named = files.filter((_, i) => written[i]!.status === "fulfilled");
  for (const folder of new Set(named.map(({ path }) => dirname(path)))) await flushFolder(folder);
  return written.map((one) => one.status === "fulfilled" ? null : one.reason);
}

/** Writes a file and flushes it, but not its name. */
export async function writeFile({ path, temporaryPath, sections }: FileToWrite): Promise<void> {
  const file = await Deno.open(temporaryPath, {
    createNew: true, // a worker that was given up may be about to make it yet
    write: true,
    mode: 0o600, // this user's alone
  });
  try {
    for (const section of sections) {
      for (let at = 0; at < section.length;) {
        at += await file.write(section.subarray(at, at + PIECE_BYTES));
      }
    }
    await file.sync();
  } finally {
    file.close();
  }
  await Deno.rename(temporaryPath, path);
}
