import { AnswerError } from "../client/answer_error.ts";
import type { Failure } from "../client/connection.ts";
import { NetworkError } from "../client/network_error.ts";
import { RefusalError } from "../client/refusal_error.ts";
import { ExitCode } from "./exit_code.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";

/** Whether a relay refused, or none answered. */
export function isFailure(thrown: unknown): thrown is Failure {
  return thrown instanceof RefusalError || thrown instanceof NetworkError ||
    thrown instanceof AnswerError;
}

/** 4 when the relay refused, 5 when no relay answered as one does. */
export function failureExitCode(failure: Failure): ExitCode {
  return failure instanceof RefusalError ? ExitCode.refused : ExitCode.unreachable;
}

/** What stands on standard error: lines for people, or one JSON object. */
export function describeFailure(verb: string, failure: Failure, isJson: boolean): string {
  const retryAfterMs = failure instanceof NetworkError ? undefined : failure.retryAfterMs;
  if (isJson) {
    const status = failure instanceof NetworkError ? undefined : failure.status;
    const { code, message } = failure;
    const told = { error: { code, message }, status, retry_after_ms: retryAfterMs };
    return jsonLine(told);
  }
  const what = failure instanceof RefusalError ? `refused (${failure.code}): ` : "";
  const lines = [`relay ${verb}: ${what}${failure.message}`];
  if (retryAfterMs !== undefined) {
    lines.push(`it may be tried again in ${Math.ceil(retryAfterMs / 1000)} s`);
  }
  if (failure.mayHaveHappened && CHANGING.has(verb)) lines.push(UNCLEAR);
  return lines.map((line) => `${printable(line)}\n`).join("");
}

const CHANGING = new Set(["send", "register", "mail register", "mail inject"]);

const UNCLEAR = "it may have been carried out all the same: look before you repeat it " +
  "('relay outbox' shows what was sent, 'relay whoami' a registration)";
