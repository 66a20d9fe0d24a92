/**
 * Links that change the owner of an org: a person claims it, or its former owner takes it back
 * (specification, 3 and 4.7; docs/mail.md, "When a key has leaked").
 */
import type { Limits } from "../../base/config/limits.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { defineWindow } from "../../base/storage/commits/window_record.ts";
import { type MailCaller, refuseSuspended } from "../access/authenticate_key.ts";
import { requireCaller } from "../access/require_org.ts";
import { changeToUndo, livingRestores } from "../records/former_owners.ts";
import { keysKey } from "../records/key_record.ts";
import {
  type ClaimLink,
  isAlive,
  linkExpired,
  linkKey,
  type LinkRecord,
  type OwnerLink,
} from "../records/link_record.ts";
import { makeUlid } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState, type Restore } from "../records/org_record.ts";
import { stageOwner, stageTakeBack } from "./owners/change_owner.ts";
import type { SignInServices } from "./owners/queued_link.ts";
import { stageAskedLink } from "./asked_link.ts";

const claimWindow = defineWindow<[orgId: string]>("mail-claim", {
  holds: "claim links of an org",
  expires: "1 h",
});

/**
 * Mails a link that makes an address the caller's org's. An earlier one that waits works no more.
 * @param askedFrom address of the client, as limits count it
 * @throws RelayError `rate_limited`, and as requireCaller()
 */
export async function sendClaimLink(
  services: SignInServices,
  caller: MailCaller,
  { email, askedFrom }: Pick<ClaimLink, "email" | "askedFrom">,
): Promise<ClaimLink> {
  const { commits, store: { now, random }, limits } = services;
  const { org: { id: orgId }, key: { id: keyId, prefix: keyPrefix } } = caller;
  const linkId = makeUlid(now(), random);
  const asker = {
    key: claimWindow(orgId),
    limit: limits.mailClaimsPerOrgPerHour,
    words: "claim links an hour for one org; the one sent last works for an hour",
  };
  return await commits.submit((transaction) => {
    const org = requireCaller(transaction, caller, limits);
    const asked = { kind: "claim", orgId, keyId, keyPrefix, email, askedFrom } as const;
    const link = stageAskedLink<ClaimLink>(transaction, services, asker, linkId, asked);
    const pendingClaim = { email, expiresAtMs: link.expiresAtMs, linkId };
    transaction.putRecord(orgKey(orgId), { ...org, pendingClaim });
    return link;
  });
}

/** A link that may still be followed, and its org. */
export interface WaitingChange {
  link: OwnerLink;
  org: OrgRecord;
  /** The change that following it undoes; null for a claim by an address that is new to the org. */
  undone: Restore | null;
}

/** What following a link does; null where it does nothing, or nothing any more. Pure. */
export function waitingChange(
  linkId: string,
  link: LinkRecord | null,
  org: OrgRecord | null,
  nowMs: number,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): WaitingChange | null {
  if (!isAlive(link, nowMs) || org === null || orgState(org, nowMs, limits) === "gone") return null;
  if (link.kind === "claim") {
    const waits = org.pendingClaim?.linkId === linkId;
    return waits ? { link, org, undone: changeToUndo(org, link, nowMs) } : null;
  }
  if (link.kind !== "restore") return null;
  const undone = livingRestores(org, nowMs).find((one) => one.linkId === linkId);
  return undone === undefined ? null : { link, org, undone };
}

/** @throws RelayError `link_expired` */
export async function readOwnerLink(
  { records, store, limits }: Pick<SignInServices, "records" | "store" | "limits">,
  linkId: string,
): Promise<WaitingChange> {
  const link = await records.read<LinkRecord>(linkKey(linkId));
  const org = isOwnerLink(link) ? await records.read<OrgRecord>(orgKey(link.orgId)) : null;
  return waitingChange(linkId, link, org, store.now(), limits) ?? refuseExpired();
}

/** The same in a job, which spends the link. */
function spendOwnerLink(
  transaction: Transaction,
  linkId: string,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): WaitingChange {
  const link = transaction.record(linkKey(linkId));
  const org = isOwnerLink(link) ? transaction.record(orgKey(link.orgId)) : null;
  const waiting = waitingChange(linkId, link, org, transaction.nowMs, limits) ?? refuseExpired();
  transaction.putRecord(linkKey(linkId), null);
  return waiting;
}

function isOwnerLink(link: LinkRecord | null): link is OwnerLink {
  return link?.kind === "claim" || link?.kind === "restore";
}

function refuseExpired(): never {
  throw linkExpired();
}

/** What a link that was followed has done. */
export interface ChangedOwner {
  org: OrgRecord;
  /** Whether a former owner has their org back by it. */
  isUndo: boolean;
}

/**
 * Makes the address of a claim its org's: a trial becomes verified, expired or not. The address of
 * a former owner of the last 7 days undoes what took the org from them, as the link does that they were
 * mailed.
 * @throws RelayError `link_expired`, also where the key that asked for a claim has gone;
 * `org_suspended` for a claim
 */
export async function followOwnerLink(
  services: SignInServices,
  linkId: string,
): Promise<ChangedOwner> {
  const { commits, store: { now, random }, limits } = services;
  const mail = { id: makeUlid(now(), random), random };
  await readOwnerLink(services, linkId); // a dead one is told so, even while nothing is committed
  const changed = await commits.submit((transaction): ChangedOwner => {
    const { link, org, undone } = spendOwnerLink(transaction, linkId, limits);
    if (link.kind === "claim") {
      refuseSuspended(org);
      const keys = transaction.record(keysKey(org.id))?.keys ?? [];
      if (!keys.some(({ id }) => id === link.keyId)) throw linkExpired();
    }
    if (undone !== null) {
      return { org: stageTakeBack(transaction, org, undone, mail, limits), isUndo: true };
    }
    const claimed = { ...org, pendingClaim: null };
    const owner = { verifiedEmail: link.email, google: org.google };
    const asked = { keyPrefix: link.keyPrefix, askedFrom: link.askedFrom };
    return {
      org: stageOwner(transaction, claimed, owner, { by: "claim", asked, mail }),
      isUndo: false,
    };
  });
  return changed;
}

/** Ends a claim that its reader does not know. @throws RelayError `link_expired` */
export async function cancelClaim(
  services: Pick<SignInServices, "commits" | "records" | "store" | "limits">,
  linkId: string,
): Promise<void> {
  const { commits, limits } = services;
  await readOwnerLink(services, linkId);
  await commits.submit((transaction) => {
    const { link, org } = spendOwnerLink(transaction, linkId, limits);
    if (link.kind !== "claim") throw linkExpired();
    transaction.putRecord(orgKey(org.id), { ...org, pendingClaim: null });
  });
}
