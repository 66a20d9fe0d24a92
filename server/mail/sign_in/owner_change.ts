/** What follows, in the same commit, when an identity makes somebody the owner of an org. */
import type { OwnerChange, OwnerChangeAsked } from "../owner_change.ts";
import { makeUlid } from "../records/mail_id.ts";
import { emailKey, stageVerifiedEmail } from "../records/verified_email.ts";
import { linkRecords } from "./queued_link.ts";
import { stageRestoreLink } from "./restore_link.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";

/**
 * For whoever signs in or attaches by another identity than an address: notes which org carries the
 * address, and mails the address of an org that was verified before a link that undoes the change.
 */
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
