/** The one shape of errors (specification, 2.9), as JSON Schema. */
import { ERROR_STATUS, type ErrorCode } from "../../errors.ts";

const MESSAGE = "What was wrong, what is allowed, what to do next: for reading, not for parsing.";
const WAIT = "Milliseconds to wait before the request can succeed.";

/** An error with one of some codes; a 429 says how long to wait. */
export function errorAnswer(status: number, codes: readonly ErrorCode[]) {
  const retryAfterMs = { type: "integer" as const, minimum: 1, description: WAIT };
  return {
    type: "object" as const,
    required: status === 429 ? ["error", "retry_after_ms"] : ["error"],
    properties: {
      error: {
        type: "object" as const,
        required: ["code", "message"],
        properties: {
          code: { type: "string" as const, enum: [...codes] },
          message: { type: "string" as const, minLength: 1, description: MESSAGE },
        },
      },
      ...(status === 429 ? { retry_after_ms: retryAfterMs } : {}),
    },
  };
}

/** Any error; the component `Error`. */
export const ERROR_SCHEMA = {
  ...errorAnswer(400, Object.keys(ERROR_STATUS) as ErrorCode[]),
  description: "The shape of every error. Decide by `code`.",
};
