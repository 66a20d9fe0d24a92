/** A refusal as a tool's answer: clients show its text to the model, so it says what to do next. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RelayError } from "../errors.ts";

/** Where programs find the code of a refusal. */
const ERROR_META_KEY = "relay/error";

/**
 * `isError` with one text and the same in `_meta`. No structuredContent: clients check that against
 * the tool's output schema even in errors.
 */
export function toolFailure(
  { code, toolMessage: message, status, retryAfterMs }: RelayError,
): CallToolResult {
  const waitMs = status === 429 ? Math.max(1, Math.ceil(retryAfterMs ?? 1)) : undefined;
  const wait = waitMs === undefined ? "" : ` retry_after_ms=${waitMs}`;
  return {
    isError: true,
    content: [{ type: "text", text: `${code}: ${message}${wait}` }],
    _meta: {
      [ERROR_META_KEY]: {
        code,
        message,
        ...(waitMs === undefined ? {} : { retry_after_ms: waitMs }),
      },
    },
  };
}
