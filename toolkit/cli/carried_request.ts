import { base64 } from "@scure/base";
import type { JsonValue } from "../json_value.ts";
import { MessageError } from "../message_error.ts";

/** The member where `relay inbox --json` puts the signed request that it had to fetch. */
export const REQUEST_MEMBER = "request_base64";

/**
 * The signed request that stands beside a message: it is evidence like any other, for it binds only
 * what has the signed hash.
 *
 * @returns undefined where there is none
 * @throws {MessageError} `malformed_message` for what is no standard base64
 */
export function carriedRequest(message: JsonValue): Uint8Array | undefined {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return undefined;
  if (!Object.hasOwn(message, REQUEST_MEMBER)) return undefined;
  try {
    return base64.decode(message[REQUEST_MEMBER] as string);
  } catch {
    throw new MessageError("malformed_message", REQUEST_MEMBER, "must be standard base64");
  }
}
