/** The way into the relay's inboxes, as local mode is given it. */

/** A mail as a sending server would hand it over. */
export interface MailToHandIn {
  /** Envelope sender; "" for the null sender. */
  from: string;
  /** Envelope recipients, 1 to 100, each once. */
  to: readonly string[];
  /** The message (RFC 5322). */
  raw: Uint8Array<ArrayBuffer>;
}

/** The recipients that have it, and those that are refused for good. */
export interface HandedIn {
  accepted: string[];
  rejected: { address: string; code: string }[];
}

/**
 * Hands a mail to the inboxes that it is for, by the way that all mail comes in.
 * @throws RelayError `unavailable` where it has to be tried again
 */
export interface HandIn {
  (mail: MailToHandIn): Promise<HandedIn>;
}
