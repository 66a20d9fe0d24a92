/**
 * Every limit of the service, each with its source. An operator overrides them by these
 * names in RELAY_LIMITS (docs/api.md, "Limits"); GET /v1/limits shows the ones in force.
 */
import { ConfigError } from "./values.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

export interface Limits {
  /** Successful POST /v1/register per client address per hour (specification, section 8). */
  registrationsPerIpPerHour: number;
  /** Successful tool-server registrations per client address per hour; a counter of its own. */
  toolRegistrationsPerIpPerHour: number;
  /** Stored sends per agent per minute (specification, section 8). */
  sendsPerAgentPerMinute: number;
  /** Milliseconds between the beginnings of two accepted inbox polls of an agent (section 8). */
  inboxPollIntervalMs: number;
  /** Answered directory searches per client address per minute (section 8). */
  searchesPerIpPerMinute: number;
  /** Bytes of a message body in canonical JSON, UTF-8 (section 8: 64 KB). */
  bodyBytes: number;
  /** Bytes of a raw request body on the messaging API. */
  rawBodyBytes: number;
  /** Bytes of a tool server's request without the arguments of its tool (docs/api.md, "Limits"). */
  toolEnvelopeBytes: number;
  /** Days a message is kept after sending (section 8). */
  retentionDays: number;
  /** Greatest distance in seconds of a signed timestamp from server time (section 8). */
  signatureWindowSeconds: number;
  /** Hours between two digests to one agent (section 8). */
  digestIntervalHours: number;
  /** Changes of an agent's profile per minute, by PATCH and by the tool (docs/api.md, "Limits"). */
  profileChangesPerAgentPerMinute: number;
  /** New owner_tokens of an agent per hour (docs/api.md, "Limits"). */
  tokenRenewalsPerAgentPerHour: number;
  /** Bytes of accepted sends per client address per hour, in each process (docs/api.md). */
  storedBytesPerIpPerHour: number;
  /** Bytes of retained messages one sender may have in the store. */
  retainedBytesPerSender: number;
  /** Free bytes on the data folder's disk under which writes are refused. */
  minFreeDiskBytes: number;
  /** Inbox polls that may wait at the same time in one process. */
  waitingPolls: number;
  /** Bytes of a page's rows of inbox or outbox, as answered (docs/api.md, "Limits"). */
  pageBytes: number;
  /** The same of check_inbox, in structured content. */
  toolPageBytes: number;
  /** Concurrent pages and signed requests of one agent, until their answers are taken. */
  pagesInHandPerAgent: number;
  /** Successful registrations for mail per client address per hour (section 8). */
  mailRegistrationsPerIpPerHour: number;
  /** Hours of a trial (section 8), and days after them until it is purged. */
  mailTrialHours: number;
  mailTrialPurgeDays: number;
  /** Inboxes of a verified org, and of a trial (docs/api.md, "Limits"). */
  mailInboxesPerOrg: number;
  mailInboxesPerTrial: number;
  /** API keys of an org, not counting sign-in keys. */
  mailKeysPerOrg: number;
  /** Webhooks of an org, disabled ones included. */
  mailWebhooksPerOrg: number;
  /** Sign-in links to one e-mail address per hour (section 8), and asked for by one client address. */
  mailMagicPerEmailPerHour: number;
  mailMagicPerIpPerHour: number;
  /** Claim links of an org per hour (section 8). */
  mailClaimsPerOrgPerHour: number;
  /** Of mail that is sent and received (docs/api.md); limit_notes.ts says what each bounds. */
  mailSendsPerInboxPerHour: number;
  mailRecipientsPerMessage: number;
  mailRecipientsPerOrgPerDay: number;
  mailRecipientsPerOrgFirstDay: number;
  mailRecipientsNewOrgsPerDay: number;
  mailBodyBytes: number;
  mailRequestBytes: number;
  mailAttachments: number;
  mailInboundBytes: number;
  mailParts: number;
  mailDepth: number;
  mailStorageBytesPerOrg: number;
  mailStorageBytesPerTrial: number;
  mailStorageBytesFirstDay: number;
  mailWrittenBytesPerOrgPerHour: number;
  mailWrittenBytesPerTrialPerHour: number;
  mailInboundPerInboxPerHour: number;
  mailInboundPerTrialInboxPerHour: number;
  mailInboundBytesPerInboxPerHour: number;
  mailInboundPerClientPerHour: number;
  mailUnknownPerClientPerHour: number;
  mailDraftsPerInbox: number;
  /** Free bytes on the data folder's disk under which mail is neither taken nor sent. */
  mailMinFreeDiskBytes: number;
}

export const DEFAULT_LIMITS: Readonly<Limits> = {
  registrationsPerIpPerHour: 5,
  toolRegistrationsPerIpPerHour: 20,
  sendsPerAgentPerMinute: 60,
  inboxPollIntervalMs: 2000,
  searchesPerIpPerMinute: 30,
  bodyBytes: 64 * KIB,
  rawBodyBytes: 256 * KIB,
  toolEnvelopeBytes: 16 * KIB,
  retentionDays: 30,
  signatureWindowSeconds: 300,
  digestIntervalHours: 6,
  profileChangesPerAgentPerMinute: 120,
  tokenRenewalsPerAgentPerHour: 60,
  storedBytesPerIpPerHour: GIB,
  retainedBytesPerSender: GIB,
  minFreeDiskBytes: 512 * MIB,
  waitingPolls: 20_000,
  pageBytes: 2 * MIB,
  toolPageBytes: 256 * KIB,
  pagesInHandPerAgent: 4,
  mailRegistrationsPerIpPerHour: 5,
  mailTrialHours: 24,
  mailTrialPurgeDays: 30,
  mailInboxesPerOrg: 10,
  mailInboxesPerTrial: 1,
  mailKeysPerOrg: 50,
  mailWebhooksPerOrg: 20,
  mailMagicPerEmailPerHour: 3,
  mailMagicPerIpPerHour: 20,
  mailClaimsPerOrgPerHour: 3,
  mailSendsPerInboxPerHour: 100,
  mailRecipientsPerMessage: 50,
  mailRecipientsPerOrgPerDay: 1_000,
  mailRecipientsPerOrgFirstDay: 50,
  mailRecipientsNewOrgsPerDay: 2_000,
  mailBodyBytes: MIB,
  mailRequestBytes: 10 * MIB,
  mailAttachments: 20,
  mailInboundBytes: 25 * MIB,
  mailParts: 200,
  mailDepth: 50,
  mailStorageBytesPerOrg: 1_024 * MIB,
  mailStorageBytesPerTrial: 50 * MIB,
  mailStorageBytesFirstDay: 200 * MIB,
  mailWrittenBytesPerOrgPerHour: 512 * MIB,
  mailWrittenBytesPerTrialPerHour: 100 * MIB,
  mailInboundPerInboxPerHour: 600,
  mailInboundPerTrialInboxPerHour: 100,
  mailInboundBytesPerInboxPerHour: 256 * MIB,
  mailInboundPerClientPerHour: 1_000,
  mailUnknownPerClientPerHour: 100,
  mailDraftsPerInbox: 100,
  mailMinFreeDiskBytes: 2 * GIB,
};

/** The greatest values that work: a message has to fit one commit of the store with all of it. */
export const GREATEST_LIMITS: Readonly<Partial<Limits>> = {
  bodyBytes: 320 * KIB,
  rawBodyBytes: 384 * KIB,
  retentionDays: 36_500,
  mailTrialHours: 24 * 365,
  mailTrialPurgeDays: 36_500,
  // All keys of an org are one value of the store.
  mailKeysPerOrg: 60,
  // What they hear stands in the value of their org.
  mailWebhooksPerOrg: 25,
  // Two digits of a bounce address name the recipient.
  mailRecipientsPerMessage: 100,
};

const VARIABLE = "RELAY_LIMITS";

/**
 * Limits in force: the defaults with the operator's overrides.
 * @param overrides JSON object of limit name to integer >= 0, as RELAY_LIMITS holds it; undefined for none
 * @throws ConfigError naming the unknown limit or the one with a bad value, and what is allowed
 */
export function parseLimits(overrides: string | undefined): Limits {
  if (overrides === undefined) return { ...DEFAULT_LIMITS };
  let given: unknown;
  try {
    given = JSON.parse(overrides);
  } catch {
    throw new ConfigError(
      VARIABLE,
      'must be a JSON object such as {"sendsPerAgentPerMinute":120}',
    );
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new ConfigError(VARIABLE, "must be a JSON object of limit names to integers");
  }
  const limits = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const known = Object.keys(DEFAULT_LIMITS).join(", ");
      throw new ConfigError(VARIABLE, `names an unknown limit "${name}"; known are: ${known}`);
    }
    if (!Number.isSafeInteger(value) || (value as number) < 0) {
      throw new ConfigError(VARIABLE, `must give ${name} an integer of 0 or more`);
    }
    const greatest = GREATEST_LIMITS[name as keyof Limits];
    if (greatest !== undefined && (value as number) > greatest) {
      throw new ConfigError(VARIABLE, `must give ${name} at most ${greatest}`);
    }
    limits[name as keyof Limits] = value as number;
  }
  return limits;
}
