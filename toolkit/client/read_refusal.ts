import { AnswerError } from "./answer_error.ts";
import { parseAnswer } from "./answer_reader.ts";
import type { HttpAnswer } from "./attempt.ts";
import { RefusalError } from "./refusal_error.ts";

/**
 * Reads an answer that is no success.
 *
 * @returns the relay's refusal; an AnswerError when it has not the contract's form
 * @see service specification 2.9
 */
export function readRefusal(answer: HttpAnswer): RefusalError | AnswerError {
  const { status, headers } = answer;
  const body = bodyOf(answer);
  const error = body?.error;
  if (
    typeof error !== "object" || error === null || Array.isArray(error) ||
    typeof error.code !== "string" || typeof error.message !== "string"
  ) {
    return new AnswerError(
      "not_of_the_contract",
      status,
      `the answer is HTTP ${status} and not an error of a relay: a proxy may have answered`,
      headerWaitMs(headers),
    );
  }
  return new RefusalError(error.code, error.message, {
    status,
    retryAfterMs: bodyWaitMs(body?.retry_after_ms) ?? headerWaitMs(headers),
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

// deno-lint-ignore no-explicit-any -- each member is checked where it is read
function bodyOf(answer: HttpAnswer): any {
  try {
    return parseAnswer(answer);
  } catch (thrown) {
    if (thrown instanceof AnswerError) return undefined;
    throw thrown;
  }
}

function bodyWaitMs(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** Retry-After in seconds; its other form, a date, needs the relay's clock. */
function headerWaitMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}
