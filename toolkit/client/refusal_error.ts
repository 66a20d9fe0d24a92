/** The codes of the contract; a later relay may have more. */
export type RefusalCode =
  | "invalid_handle"
  | "invalid_pubkey"
  | "invalid_json"
  | "reserved_handle"
  | "handle_taken"
  | "invalid_signature"
  | "timestamp_out_of_range"
  | "unknown_agent"
  | "unknown_token"
  | "key_required"
  | "banned"
  | "recipient_banned"
  | "not_found"
  | "method_not_allowed"
  | "payload_too_large"
  | "rate_limited"
  | "internal"
  | "unavailable"
  | "request_timeout"
  | "mail_disabled"
  // deno-lint-ignore ban-types -- keeps the known codes in completions and lets others pass
  | (string & {});

/** What a refusal carries in addition to its code and message. */
export interface RefusalDetails {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
}

/**
 * The relay's answer was an error of the contract; the message is the relay's own.
 *
 * @see service specification 2.9 and 7
 */
export class RefusalError extends Error {
  override readonly name = "RefusalError";
  readonly code: RefusalCode;
  /** HTTP status. */
  readonly status: number;
  /** How long to wait before the next try, where the relay said so (429, 503). */
  readonly retryAfterMs: number | undefined;
  /** What to quote to the relay's operator. */
  readonly requestId: string | undefined;

  constructor(code: RefusalCode, message: string, details: RefusalDetails) {
    super(message);
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.requestId = details.requestId;
  }

  /**
   * Whether the request may have been carried out all the same: the relay failed meanwhile, or did
   * not wait for its write.
   */
  get mayHaveHappened(): boolean {
    return this.code === "internal" || this.code === "unavailable";
  }
}
