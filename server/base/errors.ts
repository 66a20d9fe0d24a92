/**
 * The one error type of the service and the one table of its codes.
 * Source: service specification, section 7; additions are marked and stand in docs/api.md.
 */

/** Status of every code that can reach the wire. */
export const ERROR_STATUS = {
  invalid_handle: 400,
  invalid_pubkey: 400,
  invalid_json: 400,
  reserved_handle: 403,
  handle_taken: 409,
  invalid_signature: 401,
  timestamp_out_of_range: 401,
  unknown_agent: 401,
  unknown_token: 401,
  key_required: 403,
  banned: 403,
  recipient_banned: 403,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  rate_limited: 429,
  internal: 500,
  mail_disabled: 503,
  missing_token: 401,
  unknown_key: 401,
  expired_key: 401,
  trial_expired: 403,
  trial_org_cannot_send: 403,
  invalid_email: 400,
  link_expired: 410,
  reserved_local_part: 403,
  address_taken: 409,
  google_signin_disabled: 503,
  invalid_google_token: 401,
  // Additions
  request_timeout: 408,
  unavailable: 503,
  idempotency_key_reused: 422,
  forbidden: 403,
  org_suspended: 403,
  insufficient_permission: 403,
  inbox_limit_reached: 403,
  key_limit_reached: 409,
  last_key: 409,
  identity_in_use: 409,
  last_identity: 409,
  recipient_not_allowed: 403,
  recipient_suppressed: 422,
  approval_required: 403,
  already_sent: 409,
  draft_changed: 409,
  draft_limit_reached: 409,
  webhook_limit_reached: 409,
  idempotency_in_progress: 409,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** What an error may carry besides code and message. */
export interface ErrorDetails {
  /** Milliseconds to wait; sent as `retry_after_ms` on 429, and as `Retry-After` on all. */
  retryAfterMs?: number;
  /** Methods for the `Allow` header of a 405. */
  allow?: string;
  /** True when the request was not read to its end, so that the client must not reuse the connection. */
  closeConnection?: boolean;
  /** What callers of a tool are told instead of the message, whose advice they could not follow. */
  toolMessage?: string;
  cause?: unknown;
}

/**
 * A refusal that the caller is told about: its message reaches the wire as it stands, so it
 * says what was wrong, what is allowed and what to do next, and never carries a secret.
 */
export class RelayError extends Error {
  override readonly name = "RelayError";
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly allow: string | undefined;
  readonly closeConnection: boolean;
  /** The message in terms of tools. */
  readonly toolMessage: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryAfterMs = details.retryAfterMs;
    this.allow = details.allow;
    this.closeConnection = details.closeConnection ?? false;
    this.toolMessage = details.toolMessage ?? message;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** Refusal of a request body, query or field: 400 `invalid_json`. */
export function invalidJson(message: string): RelayError {
  return new RelayError("invalid_json", message);
}

/** What cannot be done now and may be tried again: 503 `unavailable`. */
export function unavailable(message: string, retryAfterMs: number): RelayError {
  return new RelayError("unavailable", message, { retryAfterMs: Math.max(1, retryAfterMs) });
}

/** Refusal by a limit: 429 `rate_limited`; `retryAfterMs` is raised to at least 1. */
export function rateLimited(
  message: string,
  retryAfterMs: number,
  details: Pick<ErrorDetails, "toolMessage"> = {},
): RelayError {
  return new RelayError("rate_limited", message, {
    ...details,
    retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)),
  });
}
