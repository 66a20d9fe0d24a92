/** What a sign-in link opens (docs/mail.md, "Signing in"). */
import { changeToUndo } from "../records/former_owners.ts";
import type { MagicLink } from "../records/link_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState, type Restore } from "../records/org_record.ts";
import { findCarryingOrgs } from "../records/verified_email.ts";
import type { SignInServices } from "./owners/queued_link.ts";

/** What a person names to get an org of their own where the address was only claimed for others. */
export const NEW_ORG = "new";

export interface SignInChoice {
  /** The org that opens; null for a new one. */
  org: OrgRecord | null;
  /** Where the org was taken from the reader of the address: the change that the sign-in undoes. */
  undone: Restore | null;
  /** Orgs that claimed the address, and that it was never used to sign in to; none is opened unasked. */
  claimed: readonly OrgRecord[];
  /** All that carry the address. */
  carrying: readonly OrgRecord[];
}

/**
 * The org that was named, where it carries the address or was taken from its reader; else the one that
 * was first signed in to by it; else a new one.
 * @param chosen what the follower of the link names: an org, NEW_ORG, or null for nothing
 */
export async function chooseOrg(
  { store, records, limits }: Pick<SignInServices, "store" | "records" | "limits">,
  { email, orgId }: Pick<MagicLink, "email" | "orgId">,
  chosen: string | null,
): Promise<SignInChoice> {
  const nowMs = store.now();
  const { signedIn, claimed } = await findCarryingOrgs({ records, store, nowMs, limits }, email);
  const found = { claimed, carrying: [...signedIn, ...claimed] };
  const named = chosen ?? orgId;
  if (named !== null && isMailId("org", named)) {
    const org = found.carrying.find(({ id }) => id === named);
    if (org !== undefined) return { ...found, org, undone: null };
    const former = await records.read<OrgRecord>(orgKey(named));
    const stands = former !== null && orgState(former, nowMs, limits) !== "gone";
    const undone = stands ? changeToUndo(former, { email }, nowMs) : null;
    if (undone !== null) return { ...found, org: former, undone };
  }
  return { ...found, org: signedIn[0] ?? null, undone: null };
}
