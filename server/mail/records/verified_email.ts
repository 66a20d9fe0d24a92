/** Which orgs carry an address, and which of them a sign-in by it opens (mail page, "Orgs and the ways in"). */
import type { Limits } from "../../limits.ts";
import type { Turn } from "../../storage/job.ts";
import { listRows } from "../../storage/list_rows.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../storage/store.ts";
import { type EmailProof, orgKey, type OrgRecord, orgState } from "./org_record.ts";

/**
 * ["mail-email", address]: written with each org that an address gets, so that of several sign-ins at
 * one time one alone makes the first org. It is kept for as long as a sign-in may take, and longer.
 */
export interface EmailRecord {
  v: 1;
  attempt: string;
}
export const emailKey = defineRecord<EmailRecord, [email: string]>(["mail-email"], 1);

/** ["mail-email-org", address, orgId] -> EmailProof; what holds is the org's own record. */
export const emailOrgKey = (email: string, orgId: string): Deno.KvKey => [
  "mail-email-org",
  email,
  orgId,
];

/**
 * Gives an org an address, or takes away the one that it has, in a job that names emailKey() of the
 * new one and writes the org.
 * @returns what changes of the org
 */
export function stageVerifiedEmail(
  turn: Turn,
  org: Pick<OrgRecord, "id" | "verifiedEmail">,
  email: string | null,
  proof: EmailProof | null,
): Pick<OrgRecord, "verifiedEmail" | "emailProof"> {
  if (org.verifiedEmail !== null) turn.delete(emailOrgKey(org.verifiedEmail, org.id));
  if (email !== null) {
    turn.set(emailOrgKey(email, org.id), proof);
    turn.putRecord(emailKey(email), { v: 1, attempt: turn.attempt }, EXPIRY_MARGIN_MS);
  }
  return { verifiedEmail: email, emailProof: proof };
}

/** The orgs of an address in the order in which a sign-in prefers them: the first by sign-in, then by claim. Pure. */
export function inSignInOrder<O extends Pick<OrgRecord, "id" | "emailProof">>(
  orgs: readonly O[],
): O[] {
  const rank = ({ emailProof }: O) => emailProof?.by === "sign_in" ? 0 : 1;
  return orgs.toSorted((a, b) =>
    rank(a) - rank(b) || (a.emailProof?.atMs ?? 0) - (b.emailProof?.atMs ?? 0) ||
    (a.id < b.id ? -1 : 1)
  );
}

/** An org that carries an address, as a sign-in by it found them. */
export interface CarryingOrgs {
  /** The orgs in the order in which a sign-in prefers them. */
  orgs: readonly OrgRecord[];
  /** What emailKey() held before they were read. */
  mark: EmailRecord | null;
}

/** Reads which orgs carry an address. A commit that rests on there being none compares the mark. */
export async function findCarryingOrgs(
  { records, kv, nowMs, limits }: {
    records: Pick<RecordCache, "read">;
    kv: Deno.Kv;
    nowMs: number;
    limits: Pick<Limits, "mailTrialPurgeDays">;
  },
  email: string,
): Promise<CarryingOrgs> {
  const mark = await records.read<EmailRecord>(emailKey(email));
  const rows = await listRows(kv, { prefix: ["mail-email-org", email] });
  const orgs: OrgRecord[] = [];
  for (const { key } of rows) {
    const org = await records.read<OrgRecord>(orgKey(key[2] as string));
    if (org !== null && carries(org, email, nowMs, limits)) orgs.push(org);
  }
  return { orgs: inSignInOrder(orgs), mark };
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
