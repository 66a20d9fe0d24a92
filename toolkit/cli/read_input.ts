import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";

/**
 * The bytes of a file or, for `-` and undefined, of standard input.
 *
 * @throws {InputError} when it cannot be read
 */
export async function* readInput(
  host: Host,
  file: string | undefined,
): AsyncGenerator<Uint8Array, void> {
  const isStdin = file === undefined || file === "-";
  try {
    yield* isStdin ? host.stdin() : host.readFile(file);
  } catch (thrown) {
    const name = isStdin ? "standard input" : `'${file}'`;
    throw new InputError(`cannot read ${name}: ${fileFailure(thrown)}`);
  }
}

/**
 * All the bytes of a file or of standard input.
 *
 * @throws {InputError} when it cannot be read
 */
export async function readWhole(host: Host, file: string | undefined): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readInput(host, file)) chunks.push(chunk);
  return joinBytes(chunks);
}

/** The chunks one after another. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

/** Why a file could not be used, in words. */
export function fileFailure(thrown: unknown): string {
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return String(message ?? thrown);
}
