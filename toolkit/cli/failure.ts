import { isFailure } from "../client/connection.ts";
import { NetworkError } from "../client/network_error.ts";
import { RefusalError } from "../client/refusal_error.ts";
import { FileError } from "../node/file_error.ts";
import { jsonLine } from "./print.ts";
import { printable } from "./printable.ts";

/** What the command line ends with; scripts rely on these numbers. */
export const ExitCode = {
  /** Every requested check passed; for other verbs: done. */
  passed: 0,
  /** Something is false. */
  false: 1,
  /** Malformed input or usage. */
  malformed: 2,
  /** Nothing is false, but a body is not bound to its signature. */
  unbound: 3,
  /** The relay refused. */
  refused: 4,
  /** No relay answered. */
  unreachable: 5,
} as const;

/** One of {@linkcode ExitCode}. */
export type ExitCode = typeof ExitCode[keyof typeof ExitCode];

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

/**
 * How a verb that failed ends, and what stands on standard error: lines for people, or one JSON
 * object where a relay was asked.
 *
 * @throws what is no fault of the caller nor of a relay
 */
export function failureOf(
  verb: { readonly name: string; readonly isChanging?: boolean },
  thrown: unknown,
  isJson: boolean,
): { code: ExitCode; words: string } {
  const inLines = (...lines: string[]) => lines.map((line) => `${printable(line)}\n`).join("");
  if (thrown instanceof InputError || thrown instanceof FileError) {
    const isUsage = thrown instanceof UsageError;
    const hint = isUsage ? [`'relay ${verb.name} --help' tells how it is used`] : [];
    const words = inLines(`relay ${verb.name}: ${thrown.message}`, ...hint);
    return { code: ExitCode.malformed, words };
  }
  if (!isFailure(thrown)) throw thrown;
  const isRefused = thrown instanceof RefusalError;
  const code = isRefused ? ExitCode.refused : ExitCode.unreachable;
  const answer = thrown instanceof NetworkError ? undefined : thrown;
  const retryAfterMs = answer?.retryAfterMs;
  if (isJson) {
    const error = { code: thrown.code, message: thrown.message };
    const told = { error, status: answer?.status, retry_after_ms: retryAfterMs };
    return { code, words: jsonLine(told) };
  }
  const what = isRefused ? `refused (${thrown.code}): ` : "";
  const lines = [`relay ${verb.name}: ${what}${thrown.message}`];
  if (retryAfterMs !== undefined) {
    lines.push(`it may be tried again in ${Math.ceil(retryAfterMs / 1000)} s`);
  }
  if (thrown.mayHaveHappened && verb.isChanging) lines.push(UNCLEAR);
  return { code, words: inLines(...lines) };
}

const UNCLEAR = "it may have been carried out all the same: look before you repeat it " +
  "('relay outbox' shows what was sent, 'relay whoami' a registration)";
