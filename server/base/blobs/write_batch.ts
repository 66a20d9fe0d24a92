import { flushFolder } from "../files/flush_folder.ts";

/** A file of a blob, under the temporary name that it is written by. */
export interface FileToWrite {
  path: string;
  temporaryPath: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What the writer is given at one time. */
export interface FilesOfFolder {
  folder: string;
  files: FileToWrite[];
}

/** Why a file was not written, as it can leave a worker. */
export interface WriteFailure {
  name: string;
  message: string;
}

/** This user's alone. */
export const FILE_MODE = 0o600;

/**
 * Writes files of one folder so that they outlive a power cut, flushed by the disk together. It holds
 * its thread, and so runs in a worker.
 * @returns of each file null, or why it failed; what a failure leaves is the caller's to remove
 */
export async function writeBatch(
  folder: string,
  files: readonly FileToWrite[],
): Promise<(WriteFailure | null)[]> {
  const opened = files.map((file) => attempt(() => openWritten(file)));
  const flushed = await Promise.allSettled(opened.map(async (one) => {
    if ("failure" in one) throw one.failure;
    try {
      await one.value.sync();
    } finally {
      one.value.close();
    }
  }));
  const named = files.map(({ path, temporaryPath }, i) => {
    const flush = flushed[i]!;
    if (flush.status === "rejected") return { failure: flush.reason };
    return attempt(() => Deno.renameSync(temporaryPath, path));
  });
  if (named.every((one) => "failure" in one)) return named.map(failureOf);
  const kept = await Promise.allSettled([flushFolder(folder)]);
  return named.map((one) =>
    failureOf(kept[0].status === "rejected" ? { failure: kept[0].reason } : one)
  );
}

function openWritten({ temporaryPath, bytes }: FileToWrite): Deno.FsFile {
  const file = Deno.openSync(temporaryPath, { createNew: true, write: true, mode: FILE_MODE });
  try {
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

type Tried<T> = { value: T } | { failure: unknown };

function attempt<T>(work: () => T): Tried<T> {
  try {
    return { value: work() };
  } catch (failure) {
    return { failure };
  }
}

function failureOf(one: Tried<unknown>): WriteFailure | null {
  if (!("failure" in one)) return null;
  const { failure } = one;
  return failure instanceof Error
    ? { name: failure.name, message: failure.message }
    : { name: "Error", message: String(failure) };
}
