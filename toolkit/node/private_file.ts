import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";
import { FileError } from "./file_error.ts";
import type { FileSystem } from "./file_system.ts";
import { fileFailure, readFileOrNothing } from "./read_file.ts";

/** What is kept in a small file for its owner's eyes only. */
export interface PrivateFile<T> {
  /** @throws {FileError} when it is none, or cannot be read */
  read(): Promise<T>;
  /**
   * Changes it under a file lock, and replaces the file in one step.
   *
   * @param make changes the content in place
   * @returns what `make` returns
   * @throws {FileError} as `read`, and when it cannot be written
   */
  change<R>(make: (content: T) => R): Promise<R>;
}

/** How the content of a {@linkcode PrivateFile} stands there. */
export interface PrivateFileFormat<T> {
  /** What is kept where there is no file yet. */
  empty(): T;
  /** @returns undefined when it is none */
  parse(file: JsonValue): T | undefined;
  write(content: T): string;
  /** What it is, and what to do where it is none: the end of a sentence that begins with its name. */
  readonly advice: string;
}

/** A file that several processes may change. */
export function privateFile<T>(
  files: FileSystem,
  path: string,
  { empty, parse, write, advice }: PrivateFileFormat<T>,
): PrivateFile<T> {
  async function read(): Promise<T> {
    const text = await readFileOrNothing(files, path);
    if (text === undefined) return empty();
    const file = parseStrictly(text);
    const content = file === undefined ? undefined : parse(file);
    if (content !== undefined) return content;
    throw new FileError(`'${path}' is no ${advice}`);
  }

  return {
    read,
    async change(make) {
      let isMaking = false;
      try {
        return await files.withLock(`${path}.lock`, async () => {
          const content = await read();
          isMaking = true;
          const result = make(content);
          isMaking = false;
          await files.writePrivateFile(path, write(content), true);
          return result;
        });
      } catch (thrown) {
        if (isMaking || thrown instanceof FileError) throw thrown;
        throw new FileError(`cannot write '${path}': ${fileFailure(thrown)}`);
      }
    },
  };
}

function parseStrictly(text: Uint8Array): JsonValue | undefined {
  try {
    return parseStrict(text);
  } catch (thrown) {
    if (thrown instanceof JsonError) return undefined;
    throw thrown;
  }
}
