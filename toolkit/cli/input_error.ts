/**
 * Thrown by a verb for what its caller can put right: a file that cannot be read, malformed input,
 * wrong usage. The command line prints the message and ends with 2.
 */
export class InputError extends Error {
  override readonly name = "InputError";
  /** Whether the verb's help would have told. */
  readonly isUsage: boolean;

  constructor(message: string, kind: "input" | "usage" = "input") {
    super(message);
    this.isUsage = kind === "usage";
  }
}
