/** Attachments of a message to send (docs/mail.md, "A message"). Pure. */
import { Buffer } from "node:buffer";
import type { JsonObject, JsonValue } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";
import type { MessageLimits, NewAttachment } from "../../records/message_content.ts";
import { refuseNearNames } from "./refuse_near_names.ts";
import { readLine } from "./read_line.ts";

/** Code points. */
export const MAX_FILENAME = 255;
const MAX_CONTENT_TYPE = 127;
const FORM = "{filename, content_type, content (base64), content_id?}";
const FIELDS = ["filename", "content_type", "content", "content_id"];
/** type "/" subtype (RFC 6838, section 4.2), and the one parameter that says how to read the bytes. */
const CONTENT_TYPE =
  /^([a-z0-9][a-z0-9!#$&^_.+-]*)\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:; ?charset=[a-z0-9][a-z0-9_.:+-]{0,39})?$/;
/** Left and right of an optional @: what a `cid:` link and every parser take without quotes. */
const CONTENT_ID = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.@-]{1,250}$/;
const WHITE_SPACE = /[\t\n\f\r ]+/g;
const NO_BASE64 = /[^A-Za-z0-9+/]/;

/**
 * The field `attachments` of a request.
 * @throws RelayError `invalid_json` naming index and field
 */
export function readAttachments(
  given: JsonValue | undefined,
  { mailAttachments: most }: Pick<MessageLimits, "mailAttachments">,
): NewAttachment[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw invalidJson(`attachments must be an array of ${FORM}`);
  if (given.length > most) throw invalidJson(`attachments must hold at most ${most}`);
  return given.map((item, index) => readAttachment(`attachments[${index}]`, item));
}

/** One of them. @param field its name with its index */
export function readAttachment(field: string, given: JsonValue): NewAttachment {
  const fields = readItem(field, given);
  refuseNearNames(fields, FIELDS, `${field}.`);
  return {
    filename: readFilename(`${field}.filename`, fields["filename"]),
    contentType: readContentType(`${field}.content_type`, fields["content_type"]),
    contentId: readContentId(`${field}.content_id`, fields["content_id"]),
    content: decodeBase64(`${field}.content`, fields["content"]),
  };
}

/** @throws RelayError `invalid_json` for what is no object */
export function readItem(field: string, given: JsonValue): JsonObject {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
  throw invalidJson(`${field} must be an object: ${FORM}`);
}

function readFilename(field: string, given: JsonValue | undefined): string {
  const filename = readLine(field, given, MAX_FILENAME);
  // Many mail programs decode encoded-words in a file name, whatever they stand for then.
  if (filename === "" || /[/\\]|=\?/.test(filename)) {
    throw invalidJson(
      `${field} must be 1 to ${MAX_FILENAME} characters without /, \\ and =?; write it as it is to be shown, it is encoded here`,
    );
  }
  return filename;
}

function readContentType(field: string, given: JsonValue | undefined): string {
  const type = typeof given === "string" ? given.toLowerCase() : "";
  const match = type.length <= MAX_CONTENT_TYPE ? CONTENT_TYPE.exec(type) : null;
  if (match === null) {
    throw invalidJson(
      `${field} must be a media type such as application/pdf or text/csv; charset=utf-8, of at most ${MAX_CONTENT_TYPE} characters and without other parameters`,
    );
  }
  if (match[1] === "multipart" || match[1] === "message") {
    throw invalidJson(
      `${field} must not be multipart/* or message/*: attach such a message as application/octet-stream`,
    );
  }
  return type;
}

/** Whether a lowercased media type is one that an attachment may have. */
export function isContentType(type: string): boolean {
  const match = type.length <= MAX_CONTENT_TYPE ? CONTENT_TYPE.exec(type) : null;
  return match !== null && match[1] !== "multipart" && match[1] !== "message";
}

function readContentId(field: string, given: JsonValue | undefined): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given === "string" && CONTENT_ID.test(given)) return given;
  throw invalidJson(
    `${field} must be 1 to 250 ASCII characters without spaces, quotes, brackets, commas, colons and semicolons, such as logo@example; html names it as cid:logo@example`,
  );
}

/**
 * Bytes of standard base64 with its padding (RFC 4648, section 4); ASCII white space is ignored.
 * @throws RelayError `invalid_json` for everything else, bits behind the end included
 */
export function decodeBase64(
  field: string,
  given: JsonValue | undefined,
): Uint8Array<ArrayBuffer> {
  const text = typeof given === "string" ? given.replace(WHITE_SPACE, "") : null;
  if (text === null || !isBase64(text)) {
    throw invalidJson(
      `${field} must be a string of standard base64 with its padding (A-Z, a-z, 0-9, + and /); white space is ignored`,
    );
  }
  return new Uint8Array(Buffer.from(text, "base64"));
}

function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if (NO_BASE64.test(text.slice(0, text.length - padding))) return false;
  const last = text.slice(-4);
  return Buffer.from(last, "base64").toString("base64") === last;
}
