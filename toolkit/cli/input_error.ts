/**
 * Thrown by a verb for what its caller can put right: wrong usage, a file that cannot be read,
 * malformed input. The command line prints the message and ends with 2.
 */
export class InputError extends Error {
  override readonly name = "InputError";
}
