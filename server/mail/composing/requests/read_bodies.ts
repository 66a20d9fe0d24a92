/** The text and the HTML of a message to send (docs/mail.md, "A message"). Pure. */
import { Buffer } from "node:buffer";
import type { JsonObject, JsonValue } from "../../../../toolkit/json_value.ts";
import { invalidJson, RelayError } from "../../../base/errors.ts";
import type { MessageBodies, MessageLimits } from "../../records/message_content.ts";

/**
 * `text` and `html` of a request; an empty one counts as none.
 * @throws RelayError `payload_too_large` for more than mailBodyBytes of both, before any other
 * refusal; `invalid_json` naming the field
 */
export function readBodies(
  request: JsonObject,
  limits: Pick<MessageLimits, "mailBodyBytes">,
): MessageBodies {
  const { text, html } = request;
  refuseLargeBodies(
    [text, html].filter((body) => typeof body === "string"),
    limits,
  );
  return { text: readBody("text", text), html: readBody("html", html) };
}

/** @throws RelayError `invalid_json` */
export function requireBody({ text, html }: MessageBodies): void {
  if (text === null && html === null) {
    throw invalidJson("at least one of text and html is required, and must not be empty");
  }
}

/** @throws RelayError `payload_too_large` */
export function refuseLargeBodies(
  bodies: readonly string[],
  { mailBodyBytes }: Pick<MessageLimits, "mailBodyBytes">,
): void {
  const sizeBytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0);
  if (sizeBytes <= mailBodyBytes) return;
  throw new RelayError(
    "payload_too_large",
    `text and html are ${sizeBytes} bytes together in UTF-8, at most ${mailBodyBytes} are allowed; send the rest as an attachment`,
  );
}

function readBody(field: string, given: JsonValue | undefined): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== "string") throw invalidJson(`${field} must be a string`);
  if (given.includes("\0")) throw invalidJson(`${field} must not hold the character NUL (U+0000)`);
  if (!given.isWellFormed()) throw invalidJson(`${field} must not hold lone surrogates`);
  return given === "" ? null : given;
}
