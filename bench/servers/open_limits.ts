/** Limits of a relay under load, none of which stands in the way; the value of RELAY_LIMITS. */
export const OPEN_LIMITS: Readonly<Record<string, number>> = {
  sendsPerAgentPerMinute: 100_000_000,
  registrationsPerIpPerHour: 100_000_000,
  searchesPerIpPerMinute: 100_000_000,
  toolRegistrationsPerIpPerHour: 100_000_000,
  inboxPollIntervalMs: 0,
  retainedBytesPerSender: 2 ** 50,
  storedBytesPerIpPerHour: 2 ** 50,
  mailRegistrationsPerIpPerHour: 100_000_000,
  profileChangesPerAgentPerMinute: 100_000_000,
  minFreeDiskBytes: 0,
  mailMinFreeDiskBytes: 0,
  mailInboundPerTrialInboxPerHour: 100_000_000,
  mailInboundBytesPerInboxPerHour: 2 ** 50,
  mailStorageBytesPerTrial: 2 ** 50,
};
