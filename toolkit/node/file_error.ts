/**
 * Thrown for a file that cannot be read or written, or is not what it should be; the message names
 * it and says what to do, and never repeats what is in it.
 */
export class FileError extends Error {
  override readonly name = "FileError";
}
