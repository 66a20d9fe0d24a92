/** A person claims an org by a link in a mail (specification, 3 and 4.7; mail page, "Orgs and the ways in"). */
import { rateLimited } from "../../errors.ts";
import { Outdated, type Turn } from "../../storage/job.ts";
import { whileOutdated } from "../../storage/while_outdated.ts";
import { stageWindow, windowKey } from "../../storage/window_record.ts";
import { HOUR_MS } from "../../time_units.ts";
import { type MailCaller, refuseSuspended } from "../keys/authenticate_key.ts";
import { callerRecords, requireCaller } from "../keys/require_org.ts";
import { changeToUndo } from "../records/former_owners.ts";
import { keysKey } from "../records/key_record.ts";
import {
  type ClaimLink,
  isAlive,
  LINK_MS,
  linkExpired,
  linkKey,
  type LinkRecord,
} from "../records/link_record.ts";
import { makeUlid } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState, type Restore, trialKey } from "../records/org_record.ts";
import { emailKey, stageVerifiedEmail } from "../records/verified_email.ts";
import { emailWindowKey, stageEmailWindow } from "./email_window.ts";
import { linkRecords, stageLink } from "./queued_link.ts";
import { stageRestoreLink } from "./restore_link.ts";
import { takeBack } from "./take_back.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";

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
  const { commits, store: { now, random }, limits, addressKey } = services;
  const { org: { id: orgId }, key: { id: keyId, prefix: keyPrefix } } = caller;
  const claimWindow = windowKey("mail-claim", orgId);
  const emailWindow = emailWindowKey(addressKey, email);
  const linkId = makeUlid(now(), random);
  const link = await commits.submit<ClaimLink>({
    records: [...callerRecords(caller), claimWindow, emailWindow, ...linkRecords(linkId)],
    sizeBytes: 3_000,
    plan(turn) {
      const org = requireCaller(turn, caller, limits);
      const limit = limits.mailClaimsPerOrgPerHour;
      stageWindow(turn, claimWindow, { limit, windowMs: HOUR_MS }, (waitMs) =>
        rateLimited(
          `at most ${limit} claim links an hour for one org; the one sent last works for an hour`,
          waitMs,
        ));
      stageEmailWindow(turn, emailWindow, limits);
      const asked = { kind: "claim", orgId, keyId, keyPrefix, email, askedFrom } as const;
      const link = stageLink<ClaimLink>(turn, linkId, asked, LINK_MS, random);
      const pendingClaim = { email, expiresAtMs: link.expiresAtMs, linkId };
      turn.putRecord(orgKey(orgId), { ...org, pendingClaim, attempt: turn.attempt });
      return link;
    },
  });
  wakeLinkMails(services);
  return link;
}

/** A claim that may still be confirmed, and what confirming it undoes. */
export interface WaitingClaim {
  link: ClaimLink;
  org: OrgRecord;
  /** The change that took the org from the reader of the address; null where it is new to the org. */
  undone: Restore | null;
}

/** @throws RelayError `link_expired` */
export async function readClaim(
  { records, store, limits }: Pick<SignInServices, "records" | "store" | "limits">,
  linkId: string,
): Promise<WaitingClaim> {
  const link = await records.read<LinkRecord>(linkKey(linkId));
  if (!isAlive(link, store.now()) || link.kind !== "claim") throw linkExpired();
  const org = await records.read<OrgRecord>(orgKey(link.orgId));
  if (org === null || !waitsFor(org, linkId, store.now(), limits)) throw linkExpired();
  return { link, org, undone: changeToUndo(org, link, store.now()) };
}

/** What a confirmed claim has done. */
export interface ConfirmedClaim {
  org: OrgRecord;
  /** Whether a former owner has their org back by it. */
  isUndo: boolean;
}

/**
 * Makes the address of a claim that of its org: a trial becomes verified, expired or not. Of an org
 * that had another address its reader is mailed a link that puts it back. The address of a former owner
 * of the last 7 days undoes what took the org from them: see takeBack().
 * @throws RelayError `link_expired`, also where the key that asked has gone; `org_suspended`
 */
export async function confirmClaim(
  services: SignInServices,
  linkId: string,
): Promise<ConfirmedClaim> {
  return await whileOutdated(async () => {
    const { link, org, undone } = await readClaim(services, linkId);
    if (undone === null) {
      return { org: await changeAddress(services, linkId, link), isUndo: false };
    }
    const restored = await takeBack(services, org, undone, {
      linkId,
      require(turn) {
        const { undone } = spendClaim(turn, org.id, linkId, services.limits);
        if (undone === null) throw new Outdated();
        return undone;
      },
    });
    return { org: restored, isUndo: true };
  });
}

async function changeAddress(
  services: SignInServices,
  linkId: string,
  { orgId, email }: ClaimLink,
): Promise<OrgRecord> {
  const { commits, store: { now, random }, limits } = services;
  const restoreId = makeUlid(now(), random);
  const org = await commits.submit<OrgRecord>({
    records: [
      orgKey(orgId),
      keysKey(orgId),
      emailKey(email),
      linkKey(linkId),
      ...linkRecords(restoreId),
    ],
    sizeBytes: 5_000,
    plan(turn) {
      const { org, link, undone } = spendClaim(turn, orgId, linkId, limits);
      if (undone !== null) throw new Outdated();
      const { nowMs, attempt } = turn;
      if (org.trialEndsAtMs !== null) turn.delete(trialKey(org.trialEndsAtMs, orgId));
      const isNew = org.verifiedEmail !== email;
      const restorable = isNew && org.trialEndsAtMs === null
        ? stageRestoreLink(turn, org, { verifiedEmail: email }, restoreId, link, random)
        : {};
      const carried = isNew
        ? stageVerifiedEmail(turn, org, email, { by: "claim", atMs: nowMs })
        : {};
      const confirmed: OrgRecord = {
        ...org,
        ...restorable,
        ...carried,
        trialEndsAtMs: null,
        verifiedAtMs: org.verifiedAtMs ?? nowMs,
        pendingClaim: null,
        attempt,
      };
      turn.putRecord(orgKey(orgId), confirmed);
      return confirmed;
    },
  });
  wakeLinkMails(services);
  return org;
}

/** Ends the link of a claim that is confirmed. @throws RelayError as confirmClaim() */
function spendClaim(
  turn: Turn,
  orgId: string,
  linkId: string,
  limits: SignInServices["limits"],
): WaitingClaim {
  const { org, link } = requireClaim(turn, orgId, linkId, limits);
  refuseSuspended(org);
  const keys = turn.record(keysKey(orgId))?.keys ?? [];
  if (!keys.some(({ id }) => id === link.keyId)) throw linkExpired();
  turn.putRecord(linkKey(linkId), null);
  return { org, link, undone: changeToUndo(org, link, turn.nowMs) };
}

/** Ends a claim that its reader does not know. @throws RelayError `link_expired` */
export async function cancelClaim(services: SignInServices, linkId: string): Promise<void> {
  const { commits, limits } = services;
  const { link: { orgId } } = await readClaim(services, linkId);
  await commits.submit<void>({
    records: [orgKey(orgId), linkKey(linkId)],
    sizeBytes: 1_000,
    plan(turn) {
      const { org } = requireClaim(turn, orgId, linkId, limits);
      turn.putRecord(linkKey(linkId), null);
      turn.putRecord(orgKey(orgId), { ...org, pendingClaim: null, attempt: turn.attempt });
    },
  });
}

function requireClaim(
  turn: Turn,
  orgId: string,
  linkId: string,
  limits: SignInServices["limits"],
): { org: OrgRecord; link: ClaimLink } {
  const link = turn.record(linkKey(linkId));
  const org = turn.record(orgKey(orgId));
  const waits = org !== null && waitsFor(org, linkId, turn.nowMs, limits);
  if (!waits || !isAlive(link, turn.nowMs) || link.kind !== "claim") throw linkExpired();
  return { org, link };
}

/** Whether an org stands and waits for this very link. Pure. */
export function waitsFor(
  org: OrgRecord,
  linkId: string,
  nowMs: number,
  limits: Pick<SignInServices["limits"], "mailTrialPurgeDays">,
): boolean {
  return org.pendingClaim?.linkId === linkId && orgState(org, nowMs, limits) !== "gone";
}
