/**
 * The way back for a former owner: who got in with a leaked key may claim the org, and the reader of
 * the address that it had puts it back (mail page, "Orgs and the ways in").
 */
import type { Turn } from "../../storage/job.ts";
import { whileOutdated } from "../../storage/while_outdated.ts";
import { livingRestores, withRestore } from "../records/former_owners.ts";
import {
  isAlive,
  linkExpired,
  linkKey,
  type LinkRecord,
  RESTORE_MS,
  type RestoreLink,
} from "../records/link_record.ts";
import { orgKey, type OrgRecord, orgState, type Restore } from "../records/org_record.ts";
import { stageLink, stageNotice } from "./queued_link.ts";
import type { SignInServices } from "./sign_in_services.ts";
import { takeBack } from "./take_back.ts";

/**
 * Mails the address of a verified org a link that puts address and identity back, inside the plan of a
 * job that changes either. Where the org has had too many owners in a week to keep one more, an address
 * that is taken away is told without a link. The job names linkRecords(linkId), and its caller wakes the
 * outgoing queue.
 * @param org before the change
 * @param after the address and the identity that it then has
 * @param change by which key, and from where
 * @returns what changes of the org besides
 */
export function stageRestoreLink(
  turn: Turn,
  org: OrgRecord,
  { verifiedEmail }: Pick<OrgRecord, "verifiedEmail">,
  linkId: string,
  { keyPrefix, askedFrom }: Pick<RestoreLink, "keyPrefix" | "askedFrom">,
  random: (sizeBytes: number) => Uint8Array,
): Pick<OrgRecord, "restores"> {
  const { verifiedEmail: email, emailProof = null, google, id: orgId } = org;
  const living = livingRestores(org, turn.nowMs);
  if (email === null) return { restores: living };
  const sinceMs = turn.nowMs;
  const expiresAtMs = sinceMs + RESTORE_MS;
  const former = { email, emailProof, google };
  const restores = withRestore(org, { linkId, expiresAtMs, sinceMs, former }, sinceMs);
  if (restores === null) {
    if (verifiedEmail !== email) stageNotice(turn, linkId, { orgId, email }, random);
    return { restores: living };
  }
  const link = { kind: "restore", orgId, email, askedFrom, keyPrefix, sinceMs } as const;
  stageLink<RestoreLink>(turn, linkId, link, RESTORE_MS, random);
  return { restores };
}

/** A restore link that may still be followed, its org and the change. @throws RelayError `link_expired` */
export async function readRestore(
  { records, store, limits }: Pick<SignInServices, "records" | "store" | "limits">,
  linkId: string,
): Promise<{ link: RestoreLink; org: OrgRecord; restore: Restore }> {
  const link = await records.read<LinkRecord>(linkKey(linkId));
  if (!isAlive(link, store.now()) || link.kind !== "restore") throw linkExpired();
  const org = await records.read<OrgRecord>(orgKey(link.orgId));
  const restore = org === null ? null : restoreOf(org, linkId, store.now(), limits);
  if (org === null || restore === null) throw linkExpired();
  return { link, org, restore };
}

/**
 * Puts an org back as it was before its owner was changed: see takeBack().
 * @throws RelayError `link_expired`
 */
export async function followRestoreLink(
  services: SignInServices,
  linkId: string,
): Promise<OrgRecord> {
  return await whileOutdated(async () => {
    const { org, restore } = await readRestore(services, linkId);
    return await takeBack(services, org, restore, {
      linkId,
      require(turn) {
        const current = turn.record(orgKey(org.id));
        const isLink = isAlive(turn.record(linkKey(linkId)), turn.nowMs);
        const found = current && restoreOf(current, linkId, turn.nowMs, services.limits);
        if (found === null || !isLink) throw linkExpired();
        turn.putRecord(linkKey(linkId), null);
        return found;
      },
    });
  });
}

/** What a link puts back; null where it does no more. Pure. */
export function restoreOf(
  org: OrgRecord,
  linkId: string,
  nowMs: number,
  limits: Pick<SignInServices["limits"], "mailTrialPurgeDays">,
): Restore | null {
  if (orgState(org, nowMs, limits) === "gone") return null;
  return livingRestores(org, nowMs).find((one) => one.linkId === linkId) ?? null;
}
