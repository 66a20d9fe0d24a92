/**
 * What is wrong with an answer that is not one of the contract:
 *
 * - `not_of_the_contract`: an error without the contract's error object, such as a proxy's page
 * - `malformed_answer`: a success whose content is not what the contract says, or contradicts what
 *   was asked for
 * - `too_large`: more bytes than any answer of a relay has
 * - `redirected`: the relay pointed elsewhere; signed requests do not follow
 */
export type AnswerErrorCode =
  | "not_of_the_contract"
  | "malformed_answer"
  | "too_large"
  | "redirected";

/** Something answered, but not as a relay does. The message never repeats the answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
  readonly code: AnswerErrorCode;
  /** HTTP status; 0 where the platform hides it (a redirection in browsers). */
  readonly status: number;
  /** How long to wait before the next try, where the answer said so. */
  readonly retryAfterMs: number | undefined;
  /** Whether the request may have been carried out all the same. */
  readonly mayHaveHappened: boolean;

  constructor(code: AnswerErrorCode, status: number, message: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.mayHaveHappened = code !== "redirected";
  }
}
