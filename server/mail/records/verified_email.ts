/** Which orgs carry an address, and which of them a sign-in by it opens (docs/mail.md). */
import type { Rows } from "../../base/storage/rows/rows.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { isMagicKey, keysKey, type KeysRecord, type MailKey } from "./key_record.ts";
import { type EmailProof, orgKey, type OrgRecord, orgState } from "./org_record.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/**
 * ["mail-email", address]: written with each org that an address gets, so that of several
 * sign-ins at the same time only one makes the first org. It is kept for as long as a sign-in may take, and longer.
 * Processes of former versions see by the attempt that it has changed.
 */
export const emailKey = defineRecord<{ v: 1; attempt: string }, [email: string]>(
  ["mail-email"],
  1,
  {
    holds: "written with each org that an address gets: of sign-ins at one time one makes the " +
      "first org",
    expires: "2 h",
  },
);

export const emailOrgKey = defineRow<[address: string, orgId: string]>(["mail-email-org"], 2, {
  holds: "which orgs carry an address; what holds is the org",
});

/**
 * Gives an org an address, in a job that writes the org.
 * @returns what changes of the org
 */
export function stageVerifiedEmail(
  transaction: Transaction,
  { id, verifiedEmail: former }: Pick<OrgRecord, "id" | "verifiedEmail">,
  email: string,
  proof: EmailProof | null,
): Pick<OrgRecord, "verifiedEmail" | "emailProof"> {
  if (former !== null && former !== email) transaction.delete(emailOrgKey(former, id));
  transaction.set(emailOrgKey(email, id), proof);
  transaction.putRecord(emailKey(email), { v: 1, attempt: transaction.attempt }, EXPIRY_MARGIN_MS);
  return { verifiedEmail: email, emailProof: proof };
}

/**
 * When an org was first signed in to by its address; null where it was only claimed. Of an org whose
 * owner signed in before that was noted, a key tells that a link made since. Pure.
 */
export function signedInAtMs(
  { emailProof = null }: Pick<OrgRecord, "emailProof">,
  keys: readonly MailKey[],
): number | null {
  if (emailProof?.by === "sign_in") return emailProof.atMs;
  const since = keys
    .filter((key) => isMagicKey(key) && key.createdAtMs > (emailProof?.atMs ?? 0))
    .map(({ createdAtMs }) => createdAtMs);
  return since.length === 0 ? null : Math.min(...since);
}

/** The orgs that carry an address, as a sign-in by it finds them. */
export interface CarryingOrgs {
  /** Orgs that were signed in to by it: the first of them opens unasked. */
  signedIn: readonly OrgRecord[];
  /** Orgs that only claimed it, in order: somebody else may have made the claim, so none opens unasked. */
  claimed: readonly OrgRecord[];
}

/** Reads which orgs carry an address. A job that rests on which there are reads emailKey() before. */
export async function findCarryingOrgs(
  { records, store, nowMs, limits }: {
    records: Pick<RecordCache, "read">;
    store: Rows;
    nowMs: number;
    limits: Pick<Limits, "mailTrialPurgeDays">;
  },
  email: string,
): Promise<CarryingOrgs> {
  const rows = await store.list({ prefix: emailOrgKey.under(email) });
  const signedIn: { org: OrgRecord; atMs: number }[] = [];
  const claimed: { org: OrgRecord; atMs: number }[] = [];
  for (const { key } of rows) {
    const org = await records.read<OrgRecord>(orgKey(key[2] as string));
    if (org === null || !carries(org, email, nowMs, limits)) continue;
    const keys = (await records.read<KeysRecord>(keysKey(org.id)))?.keys ?? [];
    const atMs = signedInAtMs(org, keys);
    if (atMs === null) claimed.push({ org, atMs: org.emailProof?.atMs ?? 0 });
    else signedIn.push({ org, atMs });
  }
  return { signedIn: firstAtFirst(signedIn), claimed: firstAtFirst(claimed) };
}

function firstAtFirst(found: readonly { org: OrgRecord; atMs: number }[]): OrgRecord[] {
  return found
    .toSorted((a, b) => a.atMs - b.atMs || (a.org.id < b.org.id ? -1 : 1))
    .map(({ org }) => org);
}

/** Whether an org stands and has an address. Pure. */
export function carries(
  org: OrgRecord,
  email: string,
  nowMs: number,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): boolean {
  return org.verifiedEmail === email && orgState(org, nowMs, limits) !== "gone";
}
