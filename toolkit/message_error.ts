/**
 * Why a message could not be verified at all:
 *
 * - `malformed_message`: it is not an InboxMessage (a field is missing or of the wrong type, `from`
 *   is no address, the body has no canonical JSON)
 * - `invalid_option`: what the caller passed beside it is wrong
 */
export type MessageErrorCode = "malformed_message" | "invalid_option";

/** Thrown for a malformed message or option; a false signature is a verdict, never an error. */
export class MessageError extends Error {
  override readonly name = "MessageError";
  readonly code: MessageErrorCode;
  /** The field or option at fault, for instance `created_at` or `recipient.address`. */
  readonly field: string;

  constructor(code: MessageErrorCode, field: string, reason: string) {
    super(field === "" ? reason : `${field} ${reason}`);
    this.code = code;
    this.field = field;
  }
}
