/** What the store holds of an org, and what state the clock puts it in (specification, 2.11 and 3). */
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";
import type { Limits } from "../../base/config/limits.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";
import type { WebhookFilter } from "./event_record.ts";

/** How an org came by its address, and when. */
export interface EmailProof {
  by: "sign_in" | "claim";
  atMs: number;
}

/** How an org stood before its owner was changed, and the link that puts that back. */
export interface Restore {
  linkId: string;
  expiresAtMs: number;
  /** When the owner was changed: keys made from then on go, unix ms. */
  sinceMs: number;
  former: {
    email: string;
    emailProof: EmailProof | null;
    google: OrgRecord["google"];
  };
}

export interface OrgRecord {
  v: 1;
  /** `org_` and a ULID. */
  id: string;
  /** Number of a registered key in the mail area's own sequence; null for an org of a person. */
  agentId: number | null;
  /** base58 of the registered Ed25519 key; null for an org of a person. */
  publicKey: string | null;
  createdAtMs: number;
  /** End of the trial; null once the org is verified. */
  trialEndsAtMs: number | null;
  /** When it became verified; null in a trial. */
  verifiedAtMs: number | null;
  verifiedEmail: string | null;
  /** How it came by that address; absent without one. */
  emailProof?: EmailProof | null;
  /** `sub` is the identity; the e-mail is what the provider last said. */
  google: { sub: string; email: string } | null;
  pendingClaim: { email: string; expiresAtMs: number; linkId: string } | null;
  /** From the last days, the oldest first; absent without any. */
  restores?: readonly Restore[];
  /** Inboxes that are not deleted. */
  inboxes: number;
  /** Webhooks by creation, disabled ones included; absent without any. */
  webhooks?: readonly WebhookFilter[];
  /** Tests and redeliveries of them, and mails about disabled ones: windows of rate_window.ts; absent without any. */
  webhookSingles?: readonly number[];
  webhookNotices?: readonly number[];
  /** Addresses taken within a day, those of deleted inboxes included: a window of rate_window.ts. */
  addressesTaken: readonly number[];
  suspendedAtMs: number | null;
  /** Why, as the operator put it; absent where nothing was said. */
  suspendedReason?: string | null;
  /** Deleted by its owner or purged: nothing shows it any more, and a sweep erases what is left. */
  deletedAtMs: number | null;
}

/** A person's verified org with the given fields, without an owner yet. Pure. */
export function newOrg(id: string, nowMs: number, known: Partial<OrgRecord> = {}): OrgRecord {
  return {
    v: 1,
    id,
    agentId: null,
    publicKey: null,
    createdAtMs: nowMs,
    trialEndsAtMs: null,
    verifiedAtMs: nowMs,
    verifiedEmail: null,
    google: null,
    pendingClaim: null,
    inboxes: 0,
    addressesTaken: [],
    suspendedAtMs: null,
    deletedAtMs: null,
    ...known,
  };
}

/** ["mail-org", orgId] */
export const orgKey = defineRecord<OrgRecord, [orgId: string]>(["mail-org"], 1, {
  holds: "an org: trial or verified, its address and claim, its former owners of 7 days, " +
    "number of inboxes, suspended, gone",
  expires: "until erased",
});

/** ["mail-agents"]: highest number given to a registered key. */
export const MAIL_AGENT_COUNT = defineRecord<number>(["mail-agents"], 0, {
  holds: "highest number that a registered key was given",
})();

/** ["mail-public-key", base58]: which org a key registered. */
export interface PublicKeyRecord {
  v: 1;
  orgId: string;
  /** Until then the signed request may be repeated: the key is not free before, unix ms. */
  replayableUntilMs: number;
}
export const publicKeyKey = defineRecord<PublicKeyRecord, [publicKey: string]>(
  ["mail-public-key"],
  1,
  { holds: "the org that a key registered", expires: "until the org is erased" },
);

export const trialKey = defineRow<[endsAtMs: number, orgId: string]>(["mail-trial"], 2, {
  holds: "trials by their end: what is purged next",
});

/**
 * "expired": a trial after its end, recovered by attach or claim. "gone": deleted, or an expired
 * trial after its purge, whether or not the sweep has come to it.
 */
export type OrgState = "trial" | "verified" | "expired" | "gone";

/** The state of an org at a time (specification, section 3; docs/mail.md, "Orgs"). Pure. */
export function orgState(
  org: Pick<OrgRecord, "trialEndsAtMs" | "deletedAtMs">,
  nowMs: number,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): OrgState {
  if (org.deletedAtMs !== null) return "gone";
  if (org.trialEndsAtMs === null) return "verified";
  if (nowMs < org.trialEndsAtMs) return "trial";
  return nowMs < purgeAtMs(org.trialEndsAtMs, limits) ? "expired" : "gone";
}

/** When an expired trial is purged, unix ms. */
export function purgeAtMs(
  trialEndsAtMs: number,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): number {
  return trialEndsAtMs + limits.mailTrialPurgeDays * DAY_MS;
}

/** When a trial that begins now ends, unix ms. */
export function trialEndMs(nowMs: number, limits: Pick<Limits, "mailTrialHours">): number {
  return nowMs + limits.mailTrialHours * HOUR_MS;
}
