import { canonicalJson } from "../canonical_json.ts";
import { contentHash } from "../content_hash.ts";
import type { ContentType } from "../inbox_message.ts";
import type { JsonObject, JsonValue } from "../json_value.ts";
import { malformed, parseAnswer } from "./answer_reader.ts";
import type { Connection } from "./connection.ts";
import { jsonBytes } from "./exchange.ts";
import { readReceipt } from "./read_records.ts";
import type { Receipt } from "./records.ts";
import { askSigned, type Signer } from "./signing.ts";

/** A message to send. */
export interface NewMessage {
  /** Handle, word name or address of the recipient. */
  readonly to: string;
  /**
   * Any JSON of at most 65,536 bytes in canonical form; by convention `{subject?, text}`. For
   * content type json the document itself, not its text.
   */
  readonly body: JsonValue;
  /** Id of the message that this one answers. */
  readonly in_reply_to?: number | null;
  /** `text` unless given. */
  readonly content_type?: ContentType;
}

/** A {@linkcode Receipt}, and whom the message went to. */
export interface SentMessage extends Receipt {
  /** The address that was signed. */
  readonly to: string;
  /**
   * Whether the relay had carried out a request with this signature before. The answer to an
   * earlier try may have been lost. Or another process with the same key, but without its used
   * timestamps, signed an equal message in the same second: then both are one message.
   */
  readonly replayed: boolean;
}

/**
 * Sends a message: POST /v1/messages in RFC 8785 bytes, which the recipient can rebuild.
 *
 * All tries have the same bytes and the same signature: the relay counts them as one.
 *
 * @param to the recipient's address
 * @throws {JsonError} for a body that has no canonical JSON
 * @throws {RefusalError} `not_found`, `recipient_banned`, `banned`, `payload_too_large`, ...
 */
export async function sendMessage(
  connection: Connection,
  signer: Signer,
  { body, in_reply_to, content_type = "text" }: NewMessage,
  to: string,
  signal?: AbortSignal,
): Promise<SentMessage> {
  const request: JsonObject = { to, body: content_type === "json" ? canonicalJson(body) : body };
  if (content_type !== "text") request.content_type = content_type;
  if (in_reply_to !== undefined && in_reply_to !== null) request.in_reply_to = in_reply_to;
  const call = {
    method: "POST",
    path: "/v1/messages",
    body: jsonBytes(request),
    signal,
  };
  const answer = await askSigned(connection, signer, "change", call);
  const receipt = readReceipt(parseAnswer(answer));
  if (receipt.content_hash !== contentHash(body)) {
    throw malformed("has the content_hash of another body", answer.status);
  }
  return { ...receipt, to, replayed: answer.headers.get("idempotent-replayed") === "true" };
}
