/** Every error code with its cause and what to do next, as descriptions and docs/api.md tell it. */
import type { ErrorCode } from "../errors.ts";

export interface ErrorCause {
  /** What was wrong. */
  cause: string;
  /** What the caller does now. */
  next: string;
  /** True where the code is not in the specification. */
  addition?: boolean;
}

export const ERROR_CAUSES: Readonly<Record<ErrorCode, ErrorCause>> = {
  invalid_handle: {
    cause: "the handle is not 3 to 32 characters of a-z, 0-9 and _",
    next: "choose another handle",
  },
  invalid_pubkey: {
    cause: "the public key is not the base58 of a usable 32-byte Ed25519 key",
    next: "encode the raw 32 bytes of the public key as base58",
  },
  invalid_json: {
    cause: "the body, a field, a query parameter or a header is not what the route takes",
    next: "mend what the message names; repeating the request unchanged cannot succeed",
  },
  reserved_handle: { cause: "the handle is reserved", next: "choose another handle" },
  handle_taken: {
    cause: "the handle or the public key is registered already; the message says which",
    next: "choose another handle, or, if the key is yours, get a token with POST /v1/owner-token",
  },
  invalid_signature: {
    cause: "a signature header is missing or malformed, or the signature does not verify",
    next: "compare the string you signed with the one in the message",
  },
  timestamp_out_of_range: {
    cause: "X-Relay-Timestamp is too far from the server's time, or not in whole seconds",
    next: "set the clock right (server_time of GET /v1/limits tells the server's) and sign again",
  },
  unknown_agent: {
    cause: "X-Relay-Pubkey is not registered here",
    next: "register the key with POST /v1/register",
  },
  unknown_token: {
    cause:
      "no credentials, an unknown token, or a credential of a kind that the route does not take",
    next: "send one that the route takes; a token that died does not come back",
  },
  key_required: {
    cause: "a send by token of an agent that holds its own key",
    next: "sign the request with the agent's key",
  },
  banned: {
    cause: "the calling agent is banned by the operator",
    next: "reading still works; ask the operator",
  },
  recipient_banned: {
    cause: "the recipient is banned by the operator",
    next: "do not repeat the send",
  },
  not_found: {
    cause: "no route has this path, or what it names does not exist, is banned or has expired",
    next: "check the spelling; GET /v1/agents?q= searches for agents",
  },
  method_not_allowed: {
    cause: "the path exists but does not take this method",
    next: "use one that the Allow header names",
  },
  payload_too_large: {
    cause: "the request, or a message body in canonical form, is too large",
    next: "send less; the message says how much is allowed",
  },
  rate_limited: {
    cause: "a limit is used up",
    next: "wait retry_after_ms milliseconds, then repeat the request",
  },
  internal: {
    cause: "the relay failed",
    next: "repeat later; quote X-Request-Id to the operator if it lasts",
  },
  mail_disabled: {
    cause: "the mail area is off on this relay",
    next: "use messages between agents (POST /v1/messages), or ask the operator",
  },
  missing_token: {
    cause: "no Authorization header, another scheme than Bearer, or an empty value",
    next: "send Authorization: Bearer with an API key of the mail area",
  },
  unknown_key: {
    cause: "the API key is none, was deleted, or its org is gone",
    next: "use another key, or register or sign in anew",
  },
  expired_key: {
    cause: "the API key has expired",
    next: "make another with an org-scoped key",
  },
  trial_expired: {
    cause: "the trial of the org has ended",
    next: "attach a Google identity, or confirm a claim link younger than an hour",
  },
  invalid_email: {
    cause: "no e-mail address that the relay takes, or one of its own inboxes",
    next: "send one plain address of a person, such as name@example.org",
  },
  link_expired: {
    cause: "the link is unknown, was used, or has expired",
    next: "ask for another one",
  },
  reserved_local_part: {
    cause: "the local part is kept for the relay itself",
    next: "choose another, or leave it out",
  },
  address_taken: {
    cause: "the address is or was an inbox; addresses are never given out again",
    next: "choose another local part, or leave it out",
  },
  google_signin_disabled: {
    cause: "sign-in with Google is off on this relay",
    next: "register a key pair (POST /v1/mail/agents/register), or ask the operator",
  },
  invalid_google_token: {
    cause: "the id_token is not one of Google's for this relay, or not one any more",
    next: "sign in with Google anew; the message says what was wrong",
  },
  request_timeout: {
    cause: "the request body was not complete within 15 s",
    next: "send it again, whole",
    addition: true,
  },
  unavailable: {
    cause:
      "the relay is stopping, overloaded or short of disk; its clock has leapt ahead and the " +
      "request would write; or it cannot know whether this was accepted before",
    next:
      "wait as long as Retry-After says and repeat; a signed request may be repeated unchanged, unless the message says to sign anew",
    addition: true,
  },
  idempotency_key_reused: {
    cause: "the Idempotency-Key was used for another request within 24 h",
    next: "use a new key for a new message",
    addition: true,
  },
  forbidden: {
    cause: "the Host or Origin header may not reach the tool server",
    next: "call the relay by its own name, from a page of an origin that it accepts",
    addition: true,
  },
  org_suspended: {
    cause: "the operator has suspended the org",
    next: "ask the operator",
    addition: true,
  },
  insufficient_permission: {
    cause: "the API key's scope or permissions do not allow this",
    next: "use a key that may, or make one",
    addition: true,
  },
  inbox_limit_reached: {
    cause: "the org has as many inboxes as it may have",
    next: "delete one; a trial gets more when it is claimed",
    addition: true,
  },
  key_limit_reached: {
    cause: "the org has as many API keys as it may have",
    next: "delete one that is not used any more",
    addition: true,
  },
  last_key: {
    cause: "without this key nobody could manage the org, now or in 24 hours",
    next: "make another org-scoped key with inbox:write first that lives longer",
    addition: true,
  },
  identity_in_use: {
    cause: "the org is linked to another identity, or the identity to another org",
    next: "unlink it first (DELETE /v1/mail/org/google)",
    addition: true,
  },
  last_identity: {
    cause: "without the identity nobody could sign in to the org",
    next: "claim the org first",
    addition: true,
  },
  trial_org_cannot_send: {
    cause: "the org is a trial, which only receives",
    next: "claim the org (POST /v1/mail/org/claim), then send",
  },
  recipient_not_allowed: {
    cause: "a recipient is not on the allow_send list of the inbox",
    next: "leave it out, or have the list changed (PATCH /v1/mail/inboxes/{id})",
    addition: true,
  },
  approval_required: {
    cause: "a draft of this inbox is sent with a person's approval",
    next: "have a person approve it, by the link that they were mailed",
    addition: true,
  },
  recipient_suppressed: {
    cause: "mail to a recipient bounced hard or was complained about",
    next: "leave it out, or lift the suppression",
    addition: true,
  },
  already_sent: {
    cause: "the message is not scheduled any more",
    next: "nothing: what became of it is in its recipients",
    addition: true,
  },
  draft_changed: {
    cause: "the draft has another revision by now",
    next: "read it again, and send the revision that you mean",
    addition: true,
  },
  draft_limit_reached: {
    cause: "the inbox has as many drafts as it may",
    next: "send or discard one",
    addition: true,
  },
  webhook_limit_reached: {
    cause: "the org has as many webhooks as it may",
    next: "delete one that is not used any more",
    addition: true,
  },
  idempotency_in_progress: {
    cause: "a request under this Idempotency-Key is under way",
    next: "repeat it after Retry-After",
    addition: true,
  },
};
