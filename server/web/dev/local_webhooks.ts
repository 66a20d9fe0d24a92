/** The relay's webhooks, as local mode is given them by the mail area. */

/** A webhook of any org. */
export interface KnownWebhook {
  id: string;
  url: string;
  /** `rmwh_` and base64; two while one is rotated. */
  secrets: readonly string[];
}

/** An attempt to deliver, as GET /v1/mail/webhooks/{id}/deliveries has it, and whose it was. */
export interface RecentDelivery {
  webhook_id: string;
  url: string;
  id: string;
  event_id: string;
  type: string;
  attempt: number;
  at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  /** The first KiB of what was answered. */
  response: string;
  next_attempt_at: string | null;
}

export interface LocalWebhooks {
  /** All that are there, of every org. */
  known(): Promise<readonly KnownWebhook[]>;
  /** The newest first, some hundred at most. */
  recentDeliveries(): Promise<readonly RecentDelivery[]>;
}

/** Where the mail area is off. */
export const NO_WEBHOOKS: LocalWebhooks = {
  known: () => Promise.resolve([]),
  recentDeliveries: () => Promise.resolve([]),
};
