/**
 * Thrown by a verb for what its caller can put right: a file that cannot be read, malformed input.
 * The command line prints the message and ends with 2.
 */
export class InputError extends Error {
  override readonly name: string = "InputError";
}

/** The same for wrong usage: the verb's help would have told. */
export class UsageError extends InputError {
  override readonly name = "UsageError";
}
