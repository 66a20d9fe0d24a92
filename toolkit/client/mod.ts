/**
 * The client of a relay: signed requests, retries that do nothing twice, a verified inbox. Needs
 * `fetch` and nothing else of the platform.
 *
 * @module
 */
export { AnswerError, type AnswerErrorCode } from "./answer_error.ts";
export { type Clock, systemClock } from "./clock.ts";
export type { ConnectionOptions, Failure, Retry } from "./connection.ts";
export { type InjectedMail, injectMail, type RejectedRecipient } from "./inject_mail.ts";
export type { InboxOptions, ReceivedMessage, UncheckedMessage } from "./inbox_reader.ts";
export type {
  MailAttachment,
  MailDraft,
  MailEvent,
  MailMessage,
  MailPerson,
  MailRecipient,
  MailThread,
  RecipientEventType,
} from "./mail_event.ts";
export { NetworkError, type NetworkErrorCode } from "./network_error.ts";
export type { PinnedAddresses } from "./pins.ts";
export type {
  AgentListEntry,
  AgentProfile,
  OutboxMessage,
  OutboxPage,
  Registration,
  WhoamiRecord,
} from "./records.ts";
export { type RefusalCode, RefusalError } from "./refusal_error.ts";
export type { NewAgent } from "./register_agent.ts";
export { type MailRegistration, registerForMail } from "./register_for_mail.ts";
export {
  type PageOptions,
  type ProfileChanges,
  RelayClient,
  type RelayClientOptions,
  type RequestOptions,
  type SearchQuery,
} from "./relay_client.ts";
export type { NewMessage, SentMessage } from "./send_message.ts";
export { type InboundRequest, type MailEnvelope, signInbound } from "./sign_inbound.ts";
export {
  claimTimestamp,
  createUsedTimestamps,
  type UsedByRequest,
  type UsedTimestamps,
} from "./used_timestamps.ts";
export { verifyWebhook, type WebhookHeaders, type WebhookOptions } from "./verify_webhook.ts";
export { WebhookError, type WebhookErrorCode } from "./webhook_error.ts";
