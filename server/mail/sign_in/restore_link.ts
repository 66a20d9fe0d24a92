/**
 * The way back for a former owner: who got in with a leaked key may claim the org, and the reader of
 * the address that it had puts it back (mail page, "Orgs and the ways in").
 */
import type { Turn } from "../../storage/job.ts";
import { putKeys } from "../keys/put_keys.ts";
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
  const { commits, limits } = services;
  const { orgId, email } = await readRestore(services, linkId);
  return await commits.submit<OrgRecord>({
    records: [orgKey(orgId), keysKey(orgId), emailKey(email), linkKey(linkId)],
    sizeBytes: 3_000,
    proof: orgKey(orgId),
    plan(turn) {
      const org = turn.record(orgKey(orgId));
      const isLink = isAlive(turn.record(linkKey(linkId)), turn.nowMs);
      const restore = org === null ? null : restoreOf(org, linkId, turn.nowMs, limits);
      if (org === null || restore === null || !isLink) throw linkExpired();
      const { former, sinceMs } = restore;
      turn.putRecord(linkKey(linkId), null);
      const keys = turn.record(keysKey(orgId))?.keys ?? [];
      putKeys(turn, orgId, keys.filter(({ createdAtMs }) => createdAtMs < sinceMs));
      const earlier = org.restores!.slice(0, org.restores!.indexOf(restore));
      const restored: OrgRecord = {
        ...org,
        ...stageVerifiedEmail(turn, org, former.email, former.emailProof),
        google: former.google,
        pendingClaim: null,
        restores: earlier,
        attempt: turn.attempt,
      };
      turn.putRecord(orgKey(orgId), restored);
      return restored;
    },
  });
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
