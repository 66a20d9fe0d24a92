/**
 * Why there was no answer:
 *
 * - `unreachable`: no connection, or one that ended before an answer began
 * - `timeout`: no whole answer in time
 * - `cut`: the answer began and did not end
 */
export type NetworkErrorCode = "unreachable" | "timeout" | "cut";

/** No answer came, after as many tries as were allowed. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrorCode;
  /**
   * Always true: what was asked for may have been done, and only the answer lost. A send that ends
   * so has been tried with one signature; the outbox tells whether the message is there.
   */
  readonly mayHaveHappened = true;

  constructor(code: NetworkErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
