/** A former owner takes an org back: by the link in their mail, by a claim, or by signing in to it. */
import { Outdated, type Turn } from "../../storage/job.ts";
import { putKeys } from "../keys/put_keys.ts";
import { displacedBy, restoresBefore } from "../records/former_owners.ts";
import { googleKey, type GoogleRecord, isHeldBy } from "../records/google_record.ts";
import { keysKey } from "../records/key_record.ts";
import { linkKey } from "../records/link_record.ts";
import { makeUlid } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, type Restore } from "../records/org_record.ts";
import { emailKey, stageVerifiedEmail } from "../records/verified_email.ts";
import { linkRecords, stageNotice } from "./queued_link.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";

/** What the commit of a taking back rests on. */
export interface TakingBack {
  /** The link that its reader follows. */
  linkId: string;
  /**
   * Looks at org and link again, in the commit, and spends the link where it is to be spent.
   * @returns the change that is undone
   * @throws Outdated where that is another one by now; RelayError to refuse
   */
  require(turn: Turn): Restore;
}

/**
 * Puts an org back as it was before a change of its owner: address and identity, without the keys made
 * since, the claim that waits, and the ways back of later owners. Whom it is taken from is told.
 * @param undone the change, as it was read
 * @throws Outdated where the identities have moved meanwhile; what `require` throws
 */
export async function takeBack(
  services: SignInServices,
  org: OrgRecord,
  undone: Restore,
  { linkId, require }: TakingBack,
): Promise<OrgRecord> {
  const { commits, store: { now, random }, limits } = services;
  const { id: orgId } = org;
  const identities = await readIdentities(services, org, undone);
  const { formerSub, formerHolderId } = identities;
  const holderKey = formerHolderId === null || formerHolderId === orgId
    ? null
    : orgKey(formerHolderId);
  const noticeId = makeUlid(now(), random);
  const restored = await commits.submit<OrgRecord>({
    records: [
      orgKey(orgId),
      keysKey(orgId),
      emailKey(undone.former.email),
      linkKey(linkId),
      ...linkRecords(noticeId),
      ...identities.subs.map((sub) => googleKey(sub)),
      ...(holderKey === null ? [] : [holderKey]),
    ],
    sizeBytes: 4_000,
    plan(turn) {
      const found = require(turn);
      const current = turn.record(orgKey(orgId))!;
      const isSame = found.linkId === undone.linkId &&
        (current.google === null || identities.subs.includes(current.google.sub)) &&
        (formerSub === null ||
          (turn.record(googleKey(formerSub))?.orgId ?? null) === formerHolderId);
      if (!isSame) throw new Outdated();
      for (const sub of identities.subs) {
        if (turn.record(googleKey(sub))?.orgId === orgId) turn.putRecord(googleKey(sub), null);
      }
      // An identity that has another org by now stays there.
      const isFree = formerSub !== null &&
        (holderKey === null || !isHeldBy(turn.record(holderKey), formerSub, turn.nowMs, limits));
      if (isFree) turn.putRecord(googleKey(formerSub), { v: 1, orgId });
      const google = isFree ? found.former.google : null;
      const after = stageUndo(turn, current, found, { noticeId, google, random });
      turn.putRecord(orgKey(orgId), after);
      return after;
    },
  });
  wakeLinkMails(services);
  return restored;
}

/**
 * What undoing a change makes of an org, in a job that names emailKey() of the former address,
 * linkRecords(noticeId) and the org's keys, and writes the org and the records of its identities.
 * @param google the identity that the org has from now on
 */
export function stageUndo(
  turn: Turn,
  org: OrgRecord,
  undone: Restore,
  { noticeId, google, random }: {
    noticeId: string;
    google: OrgRecord["google"];
    random: (sizeBytes: number) => Uint8Array;
  },
): OrgRecord {
  const { former, sinceMs } = undone;
  const keys = turn.record(keysKey(org.id))?.keys ?? [];
  putKeys(turn, org.id, keys.filter(({ createdAtMs }) => createdAtMs < sinceMs));
  const after: OrgRecord = {
    ...org,
    ...stageVerifiedEmail(turn, org, former.email, former.emailProof),
    google,
    pendingClaim: null,
    restores: restoresBefore(org, undone, turn.nowMs),
    attempt: turn.attempt,
  };
  const displaced = displacedBy(org, after);
  if (displaced !== null) stageNotice(turn, noticeId, { orgId: org.id, email: displaced }, random);
  return after;
}

/** The identities that an undoing changes: that of the former owner, with the org that has it, and the present one. */
async function readIdentities(
  { records }: SignInServices,
  { google }: OrgRecord,
  { former }: Restore,
): Promise<{ subs: string[]; formerSub: string | null; formerHolderId: string | null }> {
  const formerSub = former.google?.sub ?? null;
  const subs = new Set([formerSub, google?.sub ?? null].filter((sub) => sub !== null));
  const holder = formerSub === null ? null : await records.read<GoogleRecord>(googleKey(formerSub));
  return { subs: [...subs], formerSub, formerHolderId: holder?.orgId ?? null };
}
