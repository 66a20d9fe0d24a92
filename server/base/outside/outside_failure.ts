/** Why a post brought no answer that counts. */
export type OutsideError = "blocked_address" | "dns" | "tls" | "connect" | "timeout" | "redirect";

export class OutsideFailure extends Error {
  override readonly name = "OutsideFailure";

  constructor(readonly code: OutsideError, cause?: unknown) {
    super(code, { cause });
  }
}
