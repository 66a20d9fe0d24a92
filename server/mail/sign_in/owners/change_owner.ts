/**
 * Every change of an org's owner, by whatever way in: what goes to whom the org is taken from, and how a
 * former owner has it back (docs/mail.md, "When a key has leaked").
 */
import type { Limits } from "../../../base/config/limits.ts";
import type { Transaction } from "../../../base/storage/commits/job.ts";
import { putKeys } from "../../access/put_keys.ts";
import {
  displacedBy,
  livingRestores,
  restoresBefore,
  withRestore,
} from "../../records/former_owners.ts";
import { googleKey, holderOf } from "../../records/google_record.ts";
import { keysKey } from "../../records/key_record.ts";
import { type DisplacedNotice, RESTORE_MS, type RestoreLink } from "../../records/link_record.ts";
import {
  type EmailProof,
  orgKey,
  type OrgRecord,
  type Restore,
  trialKey,
} from "../../records/org_record.ts";
import { stageVerifiedEmail } from "../../records/verified_email.ts";
import { stageLink } from "./queued_link.ts";

/** The mail to the owner who loses an org. */
export interface FormerOwnerMail {
  /** Id of its link, or of its notice without one: a ULID that no other has. */
  id: string;
  random: (sizeBytes: number) => Uint8Array;
}

/**
 * Writes an org with its new owner, which verifies a trial. Where another address or identity was there
 * before, the org's former address is mailed a link that puts both back; after too many owners in a week
 * the mail to an address that is taken away has no link.
 * @param change how the owner proved the address, and the key and client that asked for it
 */
export function stageOwner(
  transaction: Transaction,
  before: OrgRecord,
  owner: Pick<OrgRecord, "verifiedEmail" | "google">,
  { by, asked, mail }: {
    by: EmailProof["by"];
    asked: Pick<RestoreLink, "keyPrefix" | "askedFrom"> | null;
    mail: FormerOwnerMail;
  },
): OrgRecord {
  const { id, trialEndsAtMs } = before;
  const { verifiedEmail: email, google } = owner;
  const { nowMs } = transaction;
  const isNewEmail = email !== null && email !== before.verifiedEmail;
  const isChanged = isNewEmail || google?.sub !== before.google?.sub;
  if (trialEndsAtMs !== null) transaction.delete(trialKey(trialEndsAtMs, id));
  const after: OrgRecord = {
    ...before,
    ...owner,
    ...(isNewEmail ? stageVerifiedEmail(transaction, before, email, { by, atMs: nowMs }) : {}),
    ...(isChanged && trialEndsAtMs === null && asked !== null
      ? { restores: stageRestore(transaction, before, email, asked, mail) }
      : {}),
    trialEndsAtMs: null,
    verifiedAtMs: before.verifiedAtMs ?? nowMs,
  };
  transaction.putRecord(orgKey(id), after);
  return after;
}

/** @returns the ways back that the org then has */
function stageRestore(
  transaction: Transaction,
  org: OrgRecord,
  next: string | null,
  asked: Pick<RestoreLink, "keyPrefix" | "askedFrom">,
  mail: FormerOwnerMail,
): readonly Restore[] {
  const { verifiedEmail: email, emailProof = null, google, id: orgId } = org;
  const { nowMs: sinceMs } = transaction;
  const living = livingRestores(org, sinceMs);
  if (email === null) return living;
  const former = { email, emailProof, google };
  const made = { linkId: mail.id, expiresAtMs: sinceMs + RESTORE_MS, sinceMs, former };
  const restores = withRestore(org, made, sinceMs);
  if (restores === null) {
    if (next !== email) stageNotice(transaction, orgId, email, mail);
    return living;
  }
  const link = { kind: "restore", orgId, email, ...asked, sinceMs } as const;
  stageLink<RestoreLink>(transaction, mail.id, link, RESTORE_MS, mail.random);
  return restores;
}

/**
 * Writes an org as it was before a change of its owner: address and identity, without the keys made
 * since, the claim that waits, and the ways back of later owners. Whom it is taken from is told. An
 * identity that has another org by now stays there.
 */
export function stageTakeBack(
  transaction: Transaction,
  org: OrgRecord,
  undone: Restore,
  mail: FormerOwnerMail,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): OrgRecord {
  const { id } = org;
  const { former, sinceMs } = undone;
  const keys = transaction.record(keysKey(id))?.keys ?? [];
  putKeys(transaction, id, keys.filter(({ createdAtMs }) => createdAtMs < sinceMs));
  const holder = former.google && holderOf(transaction, former.google.sub, limits);
  const google = holder === null || holder.id === id ? former.google : null;
  for (const one of [org.google, former.google]) {
    if (one !== null && transaction.record(googleKey(one.sub))?.orgId === id) {
      transaction.putRecord(googleKey(one.sub), null);
    }
  }
  if (google !== null) transaction.putRecord(googleKey(google.sub), { v: 1, orgId: id });
  const after: OrgRecord = {
    ...org,
    ...stageVerifiedEmail(transaction, org, former.email, former.emailProof),
    google,
    pendingClaim: null,
    restores: restoresBefore(org, undone, transaction.nowMs),
  };
  transaction.putRecord(orgKey(id), after);
  const displaced = displacedBy(org, after);
  if (displaced !== null) stageNotice(transaction, id, displaced, mail);
  return after;
}

/** Tells somebody that an org is not theirs any more, and that they have no way back. */
function stageNotice(
  transaction: Transaction,
  orgId: string,
  email: string,
  mail: FormerOwnerMail,
): void {
  const notice = { kind: "displaced", orgId, email, sinceMs: transaction.nowMs } as const;
  stageLink<DisplacedNotice>(transaction, mail.id, notice, RESTORE_MS, mail.random);
}
