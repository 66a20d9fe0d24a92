/**
 * Why a request is not believed to be a delivery:
 *
 * - `bad_secret`: what you passed is no secret; whatever comes fails
 * - `missing_header`: `webhook-id`, `webhook-timestamp` or `webhook-signature` is not there
 * - `bad_timestamp`: `webhook-timestamp` is not a time in whole seconds
 * - `too_old`, `too_new`: it is further from the clock than the tolerance
 * - `no_match`: no signature is one by a secret of yours
 * - `bad_json`: it is signed, but is no event
 */
export type WebhookErrorCode =
  | "bad_secret"
  | "missing_header"
  | "bad_timestamp"
  | "too_old"
  | "too_new"
  | "no_match"
  | "bad_json";

/** Thrown by `verifyWebhook`. The message repeats neither secrets nor anything of the request. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
