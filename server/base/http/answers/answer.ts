/** Answers: JSON values, the one shape of errors, and what becomes of the unexpected. */
import type { Log } from "../../log.ts";
import { RelayError } from "../../errors.ts";
import { describeFailure } from "../../describe_failure.ts";
import { answerWhole } from "./large_answer.ts";

const JSON_TYPE = "application/json; charset=utf-8";
/** Of an answer that is finished JSON already. */
export const JSON_HEADERS: Readonly<Record<string, string>> = { "Content-Type": JSON_TYPE };
/** Of an answer that is for the caller alone. */
export const NO_STORE: Readonly<Record<string, string>> = { "Cache-Control": "no-store" };

/**
 * A JSON answer.
 * @param headers further headers; a handler that shows a token adds NO_STORE
 */
export function answerJson(
  value: unknown,
  status = 200,
  headers?: Readonly<Record<string, string>>,
): Response {
  return answerWhole(JSON.stringify(value), {
    status,
    headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
  });
}

/**
 * A refusal in the shape of specification section 2.9, with `retry_after_ms` at 429, and with
 * refusalHeaders().
 */
export function answerError(error: RelayError): Response {
  const { code, status, message } = error;
  const body: Record<string, unknown> = { error: { code, message } };
  if (status === 429) body.retry_after_ms = waitOf(error);
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": JSON_TYPE, ...refusalHeaders(error) },
  });
}

/**
 * Headers of a refusal in any form: a 429 has Retry-After, others too where a wait is known, a 405
 * Allow, a 401 WWW-Authenticate (RFC 9110, section 11.6.1).
 */
export function refusalHeaders(error: RelayError): Record<string, string> {
  const headers: Record<string, string> = {};
  const retryAfterMs = waitOf(error);
  if (retryAfterMs !== undefined) headers["Retry-After"] = String(Math.ceil(retryAfterMs / 1000));
  if (error.status === 401) headers["WWW-Authenticate"] = "Bearer";
  if (error.allow !== undefined) headers["Allow"] = error.allow;
  if (error.closeConnection) headers["Connection"] = "close";
  return headers;
}

/** The JSON answer to anything thrown, as refusalOf() takes it. */
export function answerFailure(failure: unknown, log: Log, requestId: string): Response {
  return answerError(refusalOf(failure, log, requestId));
}

/**
 * What the caller is told when anything is thrown: a RelayError as it is; for everything else `internal`
 * with the request id alone, under which the log has what happened.
 */
export function refusalOf(failure: unknown, log: Log, requestId: string): RelayError {
  if (failure instanceof RelayError) {
    if (failure.code === "internal") logFailure(failure, log, requestId);
    return failure;
  }
  logFailure(failure, log, requestId);
  return new RelayError(
    "internal",
    `the relay failed on this request; try again later, and quote request id ${requestId} to its operator`,
  );
}

function logFailure(failure: unknown, log: Log, requestId: string): void {
  log("request_failed", { request_id: requestId, ...describeFailure(failure) });
}

function waitOf(error: RelayError): number | undefined {
  const { status, retryAfterMs } = error;
  if (status === 429) return Math.max(1, Math.ceil(retryAfterMs ?? 1));
  return retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs));
}
