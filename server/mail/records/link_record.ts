/** Links in mails that wait to be followed, and a mail without one. A link that was used is no more. */
import { RelayError } from "../../base/errors.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";

interface Link {
  v: 1;
  /** From then on it is as if it had never been, unix ms. */
  expiresAtMs: number;
  /** Where the mail goes: the address that it proves. */
  email: string;
}

interface AskedLink extends Link {
  /** Address of the client that asked for it, as limits count it; the mail names it. */
  askedFrom: string;
}

/** Signs in to an org that carries the address, or to a new one. */
export interface MagicLink extends AskedLink {
  kind: "magic";
  /** The org that was asked for; null for the default one. */
  orgId: string | null;
}

/** Makes the address the org's. */
export interface ClaimLink extends AskedLink {
  kind: "claim";
  orgId: string;
  /** The key that asked: where it has gone, the link has. */
  keyId: string;
  keyPrefix: string;
}

/** Puts an org back to its former owner, for as long as the org lists it among its restores. */
export interface RestoreLink extends AskedLink {
  kind: "restore";
  orgId: string;
  /** Prefix of the key that changed the owner. */
  keyPrefix: string;
  /** When the owner was changed, unix ms. */
  sinceMs: number;
}

/** Notifies an owner who lost the org and has no way back: those before them come first. */
export interface DisplacedNotice extends Link {
  kind: "displaced";
  orgId: string;
  /** When the owner was changed, unix ms. */
  sinceMs: number;
}

/** What changes the owner of an org. */
export type OwnerLink = ClaimLink | RestoreLink;
export type LinkRecord = MagicLink | OwnerLink | DisplacedNotice;

/** ["mail-link", id]: id is a ULID. */
export const linkKey = defineRecord<LinkRecord, [id: string]>(["mail-link"], 1, {
  holds: "a link in a mail that waits to be followed: sign-in, claim, or taking an org back; " +
    "never its token; or a notice to a displaced owner, without one",
  expires: "1 h or 7 d, until used",
});

export const LINK_MS = HOUR_MS;
export const RESTORE_MS = 7 * DAY_MS;

/** Whether a link may still be followed. */
export function isAlive<L extends LinkRecord>(link: L | null, nowMs: number): link is L {
  return link !== null && nowMs < link.expiresAtMs;
}

/** The one refusal of every link: nobody can tell unknown, used and expired ones apart. */
export function linkExpired(): RelayError {
  return new RelayError(
    "link_expired",
    "the link does not work, or does not work any more: it works once, for a limited time, and until another one is asked for; ask for a new one",
  );
}
