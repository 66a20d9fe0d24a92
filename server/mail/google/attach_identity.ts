/** Linking a Google identity to the caller's org (specification, 3 and 4.7; mail page, "Orgs and the ways in"). */
import { whileOutdated } from "../../storage/while_outdated.ts";
import { RelayError } from "../../errors.ts";
import { Outdated } from "../../storage/job.ts";
import type { MailCaller } from "../keys/authenticate_key.ts";
import { callerRecords, requireCaller } from "../keys/require_org.ts";
import { googleKey, type GoogleRecord, isHeldBy } from "../records/google_record.ts";
import { orgKey, type OrgRecord, trialKey } from "../records/org_record.ts";
import type { GoogleServices } from "./google_services.ts";
import type { GoogleIdentity } from "./read_id_token.ts";
import { requireForeignEmail } from "./require_foreign_email.ts";

/**
 * Links an identity to the caller's org, which is verified by it: also a trial that has expired and is
 * not yet purged. The org keeps a verified e-mail address that it has. Linking it again changes nothing.
 * @param askedFrom address of the client, as limits count it
 * @throws RelayError `identity_in_use`; `invalid_google_token` where the org's e-mail address would be
 * an inbox here; as requireCaller(), but for `trial_expired`
 */
export async function attachIdentity(
  services: GoogleServices,
  caller: MailCaller,
  identity: GoogleIdentity,
  askedFrom: string,
): Promise<OrgRecord> {
  return await whileOutdated(() => attach(services, caller, identity, askedFrom));
}

async function attach(
  { commits, records, limits, domain, prepareOwnerChange }: GoogleServices,
  caller: MailCaller,
  { sub, email }: GoogleIdentity,
  askedFrom: string,
): Promise<OrgRecord> {
  const orgId = caller.org.id;
  const key = orgKey(orgId);
  const bound = await records.read<GoogleRecord>(googleKey(sub));
  const otherId = bound === null || bound.orgId === orgId ? null : bound.orgId;
  const change = prepareOwnerChange({
    identity: { sub, email },
    org: await records.read<OrgRecord>(key),
    keyPrefix: caller.key.prefix,
    askedFrom,
  });
  return await commits.submit<OrgRecord>({
    records: [
      ...callerRecords(caller),
      googleKey(sub),
      ...change.records,
      ...(otherId === null ? [] : [orgKey(otherId)]),
    ],
    sizeBytes: 2_000,
    plan(turn) {
      const before = requireCaller(turn, caller, limits, { expiredTrial: true });
      if (turn.record(googleKey(sub))?.orgId !== bound?.orgId) throw new Outdated();
      if (before.google !== null && before.google.sub !== sub) {
        throw inUse(
          "the org is linked to another Google identity; unlink it first (DELETE /v1/mail/org/google)",
        );
      }
      const other = otherId === null ? null : turn.record(orgKey(otherId));
      if (isHeldBy(other, sub, turn.nowMs, limits)) {
        throw inUse(
          "this Google identity is linked to another org; sign in there (POST /v1/mail/org/google) and unlink it first",
        );
      }
      if (before.verifiedEmail === null) requireForeignEmail(email, domain);
      const linked: OrgRecord = {
        ...before,
        trialEndsAtMs: null,
        verifiedAtMs: before.verifiedAtMs ?? turn.nowMs,
        verifiedEmail: before.verifiedEmail ?? email,
        google: { sub, email },
        attempt: turn.attempt,
      };
      const after = before.google === null ? change.stage(turn, before, linked) : linked;
      turn.putRecord(key, after);
      turn.putRecord(googleKey(sub), { v: 1, orgId });
      if (before.trialEndsAtMs !== null) turn.delete(trialKey(before.trialEndsAtMs, orgId));
      return after;
    },
    committed: change.committed,
  });
}

function inUse(message: string): RelayError {
  return new RelayError("identity_in_use", message);
}
