import type { RefusedCode } from "./received_mail.ts";

/** Thrown within a commit: this inbox does not take the message. */
export class Refused extends Error {
  constructor(readonly code: RefusedCode, readonly retryAfterMs?: number) {
    super(code);
  }
}
