/** Unlinking the Google identity of the caller's org (mail page, "Endpoints"). */
import { RelayError } from "../../errors.ts";
import { Outdated } from "../../storage/job.ts";
import type { MailCaller } from "../keys/authenticate_key.ts";
import { callerRecords, requireCaller } from "../keys/require_org.ts";
import { googleKey } from "../records/google_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import type { GoogleServices } from "./google_services.ts";

/**
 * Unlinks the identity of the caller's org, which is free from then on. Repeating it changes nothing.
 * @throws RelayError `last_identity`, and as requireCaller()
 */
export async function unlinkIdentity(
  { commits, records, limits }: Pick<GoogleServices, "commits" | "records" | "limits">,
  caller: MailCaller,
): Promise<OrgRecord> {
  const orgId = caller.org.id;
  const key = orgKey(orgId);
  for (;;) {
    const sub = (await records.read<OrgRecord>(key))?.google?.sub;
    const linked = sub === undefined ? [] : [googleKey(sub)];
    try {
      return await commits.submit<OrgRecord>({
        records: [...callerRecords(caller), ...linked],
        sizeBytes: 2_000,
        plan(turn) {
          const org = requireCaller(turn, caller, limits);
          if (org.google?.sub !== sub) throw new Outdated();
          if (org.verifiedEmail === null) throw lastIdentity();
          const next: OrgRecord = { ...org, google: null, attempt: turn.attempt };
          turn.putRecord(key, next);
          for (const one of linked) {
            if (turn.record(one)?.orgId === orgId) turn.putRecord(one, null);
          }
          return next;
        },
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

function lastIdentity(): RelayError {
  return new RelayError(
    "last_identity",
    "the org has no verified e-mail address, and without the identity nobody could sign in to it; claim it first (POST /v1/mail/org/claim)",
  );
}
