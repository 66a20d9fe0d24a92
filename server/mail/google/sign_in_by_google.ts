/** Signing in by a Google identity: its org, or a new one (specification, 4.7; mail page, "Orgs and the ways in"). */
import { whileOutdated } from "../../storage/while_outdated.ts";
import { Outdated } from "../../storage/job.ts";
import { prepareSignInKey } from "../keys/prepare_sign_in_key.ts";
import { refuseSuspended } from "../keys/authenticate_key.ts";
import { googleKey, type GoogleRecord, isHeldBy } from "../records/google_record.ts";
import { makeMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import type { GoogleServices } from "./google_services.ts";
import type { GoogleIdentity } from "./read_id_token.ts";
import { requireForeignEmail } from "./require_foreign_email.ts";

export interface SignedIn {
  org: OrgRecord;
  /** Shown once. */
  apiKey: string;
  /** Whether the org was made now. */
  isNew: boolean;
}

/**
 * Signs in to the org of an identity, and makes a verified one where it has none: of several requests
 * at one time the first makes it. An org is found by `sub` alone, never by the e-mail address.
 * @param askedFrom address of the client, as limits count it
 * @throws RelayError `org_suspended`; `invalid_google_token` where a new org's e-mail address would be an inbox here
 */
export async function signInByGoogle(
  services: GoogleServices,
  identity: GoogleIdentity,
  askedFrom: string,
): Promise<SignedIn> {
  return await whileOutdated(() => signIn(services, identity, askedFrom));
}

async function signIn(
  services: GoogleServices,
  identity: GoogleIdentity,
  askedFrom: string,
): Promise<SignedIn> {
  const { records, now, random, limits } = services;
  const { sub } = identity;
  const bound = await records.read<GoogleRecord>(googleKey(sub));
  const org = bound === null ? null : await records.read<OrgRecord>(orgKey(bound.orgId));
  if (isHeldBy(org, sub, now(), limits)) return await enter(services, identity, org.id);
  const made = { orgId: makeMailId("org", now(), random), formerId: bound?.orgId ?? null };
  return await make(services, identity, made, askedFrom);
}

/** Makes a key of the identity's org. */
async function enter(
  services: GoogleServices,
  { sub, email }: GoogleIdentity,
  orgId: string,
): Promise<SignedIn> {
  const { commits, limits } = services;
  const key = orgKey(orgId);
  const made = await prepareSignInKey(services, orgId, "google");
  const org = await commits.submit<OrgRecord>({
    records: [googleKey(sub), key, ...made.records],
    sizeBytes: 4_000,
    plan(turn) {
      const org = turn.record(key);
      const isBound = turn.record(googleKey(sub))?.orgId === orgId;
      if (!isBound || !isHeldBy(org, sub, turn.nowMs, limits)) throw new Outdated();
      refuseSuspended(org);
      const next: OrgRecord = { ...org, google: { sub, email }, attempt: turn.attempt };
      turn.putRecord(key, next);
      made.stage(turn);
      return next;
    },
    committed: made.committed,
  });
  return { org, apiKey: made.apiKey, isNew: false };
}

/**
 * Makes an org for the identity.
 * @param former the id of the new org, and of the org that the identity names so far, which holds it no more; null for none
 */
async function make(
  services: GoogleServices,
  { sub, email }: GoogleIdentity,
  { orgId, formerId }: { orgId: string; formerId: string | null },
  askedFrom: string,
): Promise<SignedIn> {
  const { commits, limits, domain, prepareOwnerChange } = services;
  requireForeignEmail(email, domain);
  const key = orgKey(orgId);
  const made = await prepareSignInKey(services, orgId, "google");
  const change = prepareOwnerChange({
    identity: { sub, email },
    org: null,
    keyPrefix: null,
    askedFrom,
  });
  const org = await commits.submit<OrgRecord>({
    records: [
      googleKey(sub),
      key,
      ...made.records,
      ...change.records,
      ...(formerId === null ? [] : [orgKey(formerId)]),
    ],
    sizeBytes: 4_000,
    plan(turn) {
      if (turn.record(googleKey(sub))?.orgId !== (formerId ?? undefined)) throw new Outdated();
      const former = formerId === null ? null : turn.record(orgKey(formerId));
      if (isHeldBy(former, sub, turn.nowMs, limits)) throw new Outdated();
      const org = change.stage(turn, null, {
        v: 1,
        id: orgId,
        agentId: null,
        publicKey: null,
        createdAtMs: turn.nowMs,
        trialEndsAtMs: null,
        verifiedAtMs: turn.nowMs,
        verifiedEmail: email,
        google: { sub, email },
        pendingClaim: null,
        inboxes: 0,
        addressesTaken: [],
        suspendedAtMs: null,
        deletedAtMs: null,
        attempt: turn.attempt,
      });
      turn.putRecord(key, org);
      turn.putRecord(googleKey(sub), { v: 1, orgId });
      made.stage(turn);
      return org;
    },
    committed: change.committed,
  });
  return { org, apiKey: made.apiKey, isNew: true };
}
