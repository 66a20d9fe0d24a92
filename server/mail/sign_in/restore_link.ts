/**
 * The way back for a former owner: who got in with a leaked key may claim the org, and the reader of
 * the address that it had puts it back (mail page, "Orgs and the ways in").
 */
import type { Turn } from "../../storage/job.ts";
import { whileOutdated } from "../../storage/while_outdated.ts";
import { Outdated } from "../../storage/job.ts";
import { putKeys } from "../keys/put_keys.ts";
import { googleKey, type GoogleRecord, isHeldBy } from "../records/google_record.ts";
import { keysKey } from "../records/key_record.ts";
import {
  isAlive,
  linkExpired,
  linkKey,
  type LinkRecord,
  RESTORE_MS,
  type RestoreLink,
} from "../records/link_record.ts";
import { orgKey, type OrgRecord, orgState, type Restore } from "../records/org_record.ts";
import { emailKey, stageVerifiedEmail } from "../records/verified_email.ts";
import { stageLink } from "./queued_link.ts";
import type { SignInServices } from "./sign_in_services.ts";

/** More changes of owner in a week than this get no link: those before them keep theirs. */
const RESTORES = 10;

/**
 * Mails the address of a verified org a link that puts address and identity back, inside the plan of a
 * job that changes either. The job names linkRecords(linkId), and its caller wakes the outgoing queue.
 * @param org before the change
 * @param change by which key, and from where
 * @returns what changes of the org besides
 */
export function stageRestoreLink(
  turn: Turn,
  org: OrgRecord,
  linkId: string,
  { keyPrefix, askedFrom }: Pick<RestoreLink, "keyPrefix" | "askedFrom">,
  random: (sizeBytes: number) => Uint8Array,
): Pick<OrgRecord, "restores"> {
  const { verifiedEmail: email, emailProof = null, google, id: orgId } = org;
  const alive = (org.restores ?? []).filter(({ expiresAtMs }) => turn.nowMs < expiresAtMs);
  if (email === null || alive.length >= RESTORES) return { restores: alive };
  const sinceMs = turn.nowMs;
  const link = { kind: "restore", orgId, email, askedFrom, keyPrefix, sinceMs } as const;
  const { expiresAtMs } = stageLink<RestoreLink>(turn, linkId, link, RESTORE_MS, random);
  const former = { email, emailProof, google };
  return { restores: [...alive, { linkId, expiresAtMs, sinceMs, former }] };
}

/** A restore link that may still be followed. @throws RelayError `link_expired` */
export async function readRestore(
  { records, store, limits }: Pick<SignInServices, "records" | "store" | "limits">,
  linkId: string,
): Promise<RestoreLink> {
  const link = await records.read<LinkRecord>(linkKey(linkId));
  if (!isAlive(link, store.now()) || link.kind !== "restore") throw linkExpired();
  const org = await records.read<OrgRecord>(orgKey(link.orgId));
  if (org === null || restoreOf(org, linkId, store.now(), limits) === null) throw linkExpired();
  return link;
}

/**
 * Puts an org back as it was before its owner was changed: address and identity, without the keys made
 * since, the claim that waits, and the links of later changes.
 * @throws RelayError `link_expired`
 */
export async function followRestoreLink(
  services: SignInServices,
  linkId: string,
): Promise<OrgRecord> {
  return await whileOutdated(() => restore(services, linkId));
}

async function restore(services: SignInServices, linkId: string): Promise<OrgRecord> {
  const { commits, limits } = services;
  const { orgId, email } = await readRestore(services, linkId);
  const identities = await readIdentities(services, orgId, linkId);
  const { formerSub, formerHolderId } = identities;
  const holderKey = formerHolderId === null || formerHolderId === orgId
    ? null
    : orgKey(formerHolderId);
  return await commits.submit<OrgRecord>({
    records: [
      orgKey(orgId),
      keysKey(orgId),
      emailKey(email),
      linkKey(linkId),
      ...identities.subs.map((sub) => googleKey(sub)),
      ...(holderKey === null ? [] : [holderKey]),
    ],
    sizeBytes: 3_000,
    proof: orgKey(orgId),
    plan(turn) {
      const org = turn.record(orgKey(orgId));
      const isLink = isAlive(turn.record(linkKey(linkId)), turn.nowMs);
      const found = org === null ? null : restoreOf(org, linkId, turn.nowMs, limits);
      if (org === null || found === null || !isLink) throw linkExpired();
      const { former, sinceMs } = found;
      const isSame = (org.google === null || identities.subs.includes(org.google.sub)) &&
        (former.google?.sub ?? null) === formerSub &&
        (formerSub === null ||
          (turn.record(googleKey(formerSub))?.orgId ?? null) === formerHolderId);
      if (!isSame) throw new Outdated();
      turn.putRecord(linkKey(linkId), null);
      const keys = turn.record(keysKey(orgId))?.keys ?? [];
      putKeys(turn, orgId, keys.filter(({ createdAtMs }) => createdAtMs < sinceMs));
      for (const sub of identities.subs) {
        if (turn.record(googleKey(sub))?.orgId === orgId) turn.putRecord(googleKey(sub), null);
      }
      // An identity that has another org by now stays there.
      const isFree = formerSub !== null &&
        (holderKey === null || !isHeldBy(turn.record(holderKey), formerSub, turn.nowMs, limits));
      if (isFree) turn.putRecord(googleKey(formerSub), { v: 1, orgId });
      const earlier = org.restores!.slice(0, org.restores!.indexOf(found));
      const restored: OrgRecord = {
        ...org,
        ...stageVerifiedEmail(turn, org, former.email, former.emailProof),
        google: isFree ? former.google : null,
        pendingClaim: null,
        restores: earlier,
        attempt: turn.attempt,
      };
      turn.putRecord(orgKey(orgId), restored);
      return restored;
    },
  });
}

/** The identities that a restoration changes: that of the former owner, with the org that has it, and the present one. */
async function readIdentities(
  { records, store, limits }: SignInServices,
  orgId: string,
  linkId: string,
): Promise<{ subs: string[]; formerSub: string | null; formerHolderId: string | null }> {
  const org = await records.read<OrgRecord>(orgKey(orgId));
  const former = org === null ? null : restoreOf(org, linkId, store.now(), limits)?.former;
  const formerSub = former?.google?.sub ?? null;
  const subs = new Set([formerSub, org?.google?.sub ?? null].filter((sub) => sub !== null));
  const holder = formerSub === null ? null : await records.read<GoogleRecord>(googleKey(formerSub));
  return { subs: [...subs], formerSub, formerHolderId: holder?.orgId ?? null };
}

/** What a link puts back; null where it does no more. Pure. */
export function restoreOf(
  org: OrgRecord,
  linkId: string,
  nowMs: number,
  limits: Pick<SignInServices["limits"], "mailTrialPurgeDays">,
): Restore | null {
  const restore = org.restores?.find((one) => one.linkId === linkId) ?? null;
  if (restore === null || nowMs >= restore.expiresAtMs) return null;
  return orgState(org, nowMs, limits) === "gone" ? null : restore;
}
