/** Every limit that an operator can override: what it bounds, and where its value comes from. */
import type { Limits } from "../../config/limits.ts";

export interface LimitNote {
  what: string;
  /** "specification": section 8 names the value; "own": a choice of this service. */
  source: "specification" | "own";
}

export const LIMIT_NOTES: Readonly<Record<keyof Limits, LimitNote>> = {
  registrationsPerIpPerHour: {
    what: "Successful POST /v1/register of one client address in an hour.",
    source: "specification",
  },
  toolRegistrationsPerIpPerHour: {
    what: "Successful registrations by the tool register of one client address in an hour.",
    source: "own",
  },
  sendsPerAgentPerMinute: {
    what: "Stored messages of one agent in a minute, by any way of sending.",
    source: "specification",
  },
  inboxPollIntervalMs: {
    what: "Milliseconds between the beginnings of two accepted inbox polls of one agent.",
    source: "specification",
  },
  searchesPerIpPerMinute: {
    what: "Answered directory searches of one client address in a minute.",
    source: "specification",
  },
  bodyBytes: {
    what: "Bytes of a message body in canonical JSON (RFC 8785, UTF-8).",
    source: "specification",
  },
  rawBodyBytes: {
    what: "Bytes of a whole request body, before anything else is looked at.",
    source: "own",
  },
  toolEnvelopeBytes: {
    what:
      "Bytes of a request to a tool server, as JSON without spaces, besides the arguments of its tool.",
    source: "own",
  },
  retentionDays: {
    what: "Days that a message is kept after it was sent.",
    source: "specification",
  },
  signatureWindowSeconds: {
    what: "Greatest distance in seconds of a signed timestamp from the server's time.",
    source: "specification",
  },
  digestIntervalHours: {
    what: "Hours between two digests to one agent.",
    source: "specification",
  },
  profileChangesPerAgentPerMinute: {
    what: "Changes of one agent's profile in a minute, by PATCH /v1/agents/me and update_profile.",
    source: "own",
  },
  tokenRenewalsPerAgentPerHour: {
    what: "New owner_tokens of one agent in an hour.",
    source: "own",
  },
  storedBytesPerIpPerHour: {
    what:
      "Bytes of stored messages (1,000 around each body, and the request where it is kept as it was " +
      "signed, included) that one client address may send in an hour to one process, by any way of sending.",
    source: "own",
  },
  retainedBytesPerSender: {
    what: "Bytes of retained messages that one sender may have in the store.",
    source: "own",
  },
  minFreeDiskBytes: {
    what:
      "Free bytes on the store's disk under which sends, registrations and changes are refused.",
    source: "own",
  },
  waitingPolls: {
    what: "Inbox polls that may wait at one time in one process; beyond it a poll does not wait.",
    source: "own",
  },
  pageBytes: {
    what: "Bytes of the messages in one page of inbox or outbox; one message at least is given.",
    source: "own",
  },
  toolPageBytes: {
    what: "The same of one answer of the tool check_inbox, in its structured content.",
    source: "own",
  },
  pagesInHandPerAgent: {
    what:
      "Pages and signed requests of one agent at one time, until their answers are taken; beyond it 503.",
    source: "own",
  },
  mailRegistrationsPerIpPerHour: {
    what: "Successful registrations for mail per client address per hour.",
    source: "specification",
  },
  mailTrialHours: { what: "Hours that a trial of the mail area lasts.", source: "specification" },
  mailTrialPurgeDays: {
    what: "Days after the end of a trial until everything of it is erased.",
    source: "own",
  },
  mailInboxesPerOrg: { what: "Inboxes of a verified org.", source: "own" },
  mailInboxesPerTrial: { what: "Inboxes of a trial.", source: "own" },
  mailKeysPerOrg: {
    what: "API keys of an org; the ten of its sign-ins come on top.",
    source: "own",
  },
  mailWebhooksPerOrg: { what: "Webhooks of an org, disabled ones included.", source: "own" },
  mailMagicPerEmailPerHour: {
    what: "Sign-in links to one e-mail address in an hour, whatever follows a `+` in it.",
    source: "specification",
  },
  mailMagicPerIpPerHour: {
    what: "Sign-in links that one client address asks for in an hour.",
    source: "own",
  },
  mailClaimsPerOrgPerHour: {
    what: "Claim links of one org in an hour.",
    source: "specification",
  },
  mailSendsPerInboxPerHour: { what: "Messages that one inbox sends in an hour.", source: "own" },
  mailRecipientsPerMessage: {
    what: "Recipients of one message, each address once.",
    source: "own",
  },
  mailRecipientsPerOrgPerDay: {
    what: "Recipients of the messages of one org in a UTC day.",
    source: "own",
  },
  mailRecipientsPerOrgFirstDay: {
    what: "The same in the 24 hours after an org was verified.",
    source: "own",
  },
  mailRecipientsNewOrgsPerDay: {
    what: "Recipients in a UTC day of all orgs together that were verified within 7 days.",
    source: "own",
  },
  mailBodyBytes: { what: "Bytes of text and HTML of a message that is sent.", source: "own" },
  mailRequestBytes: {
    what: "Bytes of a request that sends, replies, forwards or writes a draft.",
    source: "own",
  },
  mailAttachments: { what: "Attachments of a message that is sent.", source: "own" },
  mailInboundBytes: { what: "Bytes of a message that is received.", source: "own" },
  mailParts: { what: "Parts of a received message that are read.", source: "own" },
  mailDepth: { what: "Depth to which nested parts of a received message are read.", source: "own" },
  mailStorageBytesPerOrg: {
    what: "Bytes of mail that a verified org keeps, what it deleted within the last hour included.",
    source: "own",
  },
  mailStorageBytesPerTrial: { what: "The same of a trial.", source: "own" },
  mailStorageBytesFirstDay: {
    what: "The same of an org in the 24 hours after it was verified.",
    source: "own",
  },
  mailWrittenBytesPerOrgPerHour: {
    what:
      "Bytes that requests of a verified org have the relay write of messages, drafts and stored answers per hour, replaced and refused ones too.",
    source: "own",
  },
  mailWrittenBytesPerTrialPerHour: { what: "The same of a trial.", source: "own" },
  mailInboundPerInboxPerHour: {
    what: "Messages that one inbox receives in an hour.",
    source: "own",
  },
  mailInboundPerTrialInboxPerHour: {
    what: "Messages that the inbox of a trial receives in an hour.",
    source: "own",
  },
  mailInboundBytesPerInboxPerHour: {
    what: "Bytes that one inbox receives in an hour.",
    source: "own",
  },
  mailInboundPerClientPerHour: {
    what: "Messages in an hour from one client address of the sending mail server.",
    source: "own",
  },
  mailUnknownPerClientPerHour: {
    what:
      "Recipients without an inbox that one client address of a mail server asks for in an hour, over SMTP.",
    source: "own",
  },
  mailDraftsPerInbox: { what: "Drafts of one inbox.", source: "own" },
  mailMinFreeDiskBytes: {
    what: "Free bytes on the store's disk under which mail is neither taken nor sent.",
    source: "own",
  },
};
