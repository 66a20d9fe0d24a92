import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { joinBytes } from "../join_bytes.ts";
import { fileFailure } from "../node/read_file.ts";
import { parseStrict } from "../parse_strict.ts";
import type { Host } from "./host.ts";
import { InputError } from "./failure.ts";

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

/**
 * The body of a message, as JSON.
 *
 * @throws {InputError} for what languages would read differently
 */
export function parseBody(text: string | Uint8Array): JsonValue {
  try {
    return parseStrict(text);
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    throw new InputError(`malformed: the body is not strict JSON: ${thrown.message}`);
  }
}
