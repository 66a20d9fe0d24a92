/** What follows, in the same commit, when an identity makes somebody the owner of an org. */
import { Outdated } from "../../storage/job.ts";
import type { OwnerChange, OwnerChangeAsked } from "../owner_change.ts";
import { changeToUndo } from "../records/former_owners.ts";
import { makeUlid } from "../records/mail_id.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { emailKey, stageVerifiedEmail } from "../records/verified_email.ts";
import { linkRecords } from "./queued_link.ts";
import { stageRestoreLink } from "./restore_link.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";
import { stageUndo } from "./take_back.ts";

/**
 * For whoever signs in or attaches by another identity than an address: notes which org carries the
 * address, and mails the address of an org that was verified before a link that undoes the change. The
 * identity of a former owner undoes what took the org from them, and gets nobody a link.
 */
export function prepareOwnerChange(
  services: SignInServices,
  { identity: { sub, email }, org, keyPrefix, askedFrom }: OwnerChangeAsked,
): OwnerChange {
  const { store: { now, random } } = services;
  const linkId = makeUlid(now(), random);
  const undoneBy = (one: OrgRecord | null, nowMs: number) =>
    one === null ? null : changeToUndo(one, { sub }, nowMs);
  const read = undoneBy(org, now());
  const emails = new Set([email, read?.former.email ?? email]);
  return {
    records: [...[...emails].map((one) => emailKey(one)), ...linkRecords(linkId)],
    stage(turn, before, after) {
      const undone = undoneBy(before, turn.nowMs);
      if (undone?.linkId !== read?.linkId) throw new Outdated();
      if (before !== null && undone !== null) {
        return stageUndo(turn, before, undone, { noticeId: linkId, google: after.google, random });
      }
      const former = before?.verifiedEmail ?? null;
      const isNew = after.verifiedEmail === email && former !== email;
      const proof = { by: "sign_in", atMs: turn.nowMs } as const;
      const carrying = { id: after.id, verifiedEmail: former };
      const wasVerified = before !== null && before.trialEndsAtMs === null;
      return {
        ...after,
        ...(isNew ? stageVerifiedEmail(turn, carrying, email, proof) : {}),
        ...(wasVerified && keyPrefix !== null
          ? stageRestoreLink(turn, before, after, linkId, { keyPrefix, askedFrom }, random)
          : {}),
      };
    },
    committed: () => wakeLinkMails(services),
  };
}
