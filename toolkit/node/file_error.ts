/**
 * Thrown for a file that cannot be read or written, or is not what it should be. The message names
 * the file and says what to do; it never repeats its content.
 */
export class FileError extends Error {
  override readonly name = "FileError";
}
