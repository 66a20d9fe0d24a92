import { joinBytes } from "../join_bytes.ts";
import { FileError } from "./file_error.ts";
import type { FileSystem } from "./file_system.ts";

/**
 * All the bytes of a file, or undefined when there is none.
 *
 * @throws {FileError} when it cannot be read
 */
export async function readFileOrNothing(
  files: FileSystem,
  path: string,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of files.readFile(path)) chunks.push(chunk);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ENOENT") return undefined;
    throw new FileError(`cannot read '${path}': ${fileFailure(thrown)}`);
  }
  return joinBytes(chunks);
}

/** Why a file could not be used, in words. */
export function fileFailure(thrown: unknown): string {
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return String(message ?? thrown);
}
