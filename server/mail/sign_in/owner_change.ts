/** What follows, in the same commit, when an identity makes somebody the owner of an org. */
import type { Turn } from "../../storage/job.ts";
import type { RecordKey } from "../../storage/record_key.ts";
import { makeUlid } from "../records/mail_id.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { emailKey, stageVerifiedEmail } from "../records/verified_email.ts";
import { linkRecords } from "./queued_link.ts";
import { stageRestoreLink } from "./restore_link.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";

export interface OwnerChangeAsked {
  /** E-mail address of the identity, as cleanEmail() gives it. */
  email: string;
  /** Prefix of the key that attaches the identity; null for a sign-in, which makes an org. */
  keyPrefix: string | null;
  /** Address of the client, as limits count it. */
  askedFrom: string;
}

export interface OwnerChange {
  /** What the job is to name among its records. */
  records: readonly RecordKey<unknown>[];
  /**
   * Run once in the commit: notes which org carries the address, and mails the address of an org that
   * was verified before a link that undoes the change.
   * @param before null for an org that is made now
   * @returns the org as it is to be written
   */
  stage(turn: Turn, before: OrgRecord | null, after: OrgRecord): OrgRecord;
  /** Run after the commit. */
  committed(): void;
}

/** For whoever signs in or attaches by another identity than an address. */
export function prepareOwnerChange(
  services: SignInServices,
  { email, keyPrefix, askedFrom }: OwnerChangeAsked,
): OwnerChange {
  const { store: { now, random } } = services;
  const linkId = makeUlid(now(), random);
  return {
    records: [emailKey(email), ...linkRecords(linkId)],
    stage(turn, before, after) {
      const former = before?.verifiedEmail ?? null;
      const isNew = after.verifiedEmail === email && former !== email;
      const proof = { by: "sign_in", atMs: turn.nowMs } as const;
      const carrying = { id: after.id, verifiedEmail: former };
      const wasVerified = before !== null && before.trialEndsAtMs === null;
      return {
        ...after,
        ...(isNew ? stageVerifiedEmail(turn, carrying, email, proof) : {}),
        ...(wasVerified && keyPrefix !== null
          ? stageRestoreLink(turn, before, linkId, { keyPrefix, askedFrom }, random)
          : {}),
      };
    },
    committed: () => wakeLinkMails(services),
  };
}
