/** Stores a link, or a notice without one, and queues its mail, in one commit (docs/adr/0036). */
import { newNotice, type NoticePayload } from "../../../base/notices/notice_handler.ts";
import { stageNewOutgoing } from "../../../base/outgoing/outgoing_row.ts";
import { domainTag } from "../../../base/outgoing/recipient_domain.ts";
import type { Transaction } from "../../../base/storage/commits/job.ts";
import { EXPIRY_MARGIN_MS } from "../../../base/storage/rows/store.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import { linkKey, type LinkRecord } from "../../records/link_record.ts";

export const LINK_MAIL_KIND = "mail-link";

/** What the ways in run on: of the core, so much that they run without HTTP and without mail that leaves. */
export type SignInServices = Pick<
  MailCore,
  "store" | "records" | "commits" | "limits" | "lastUsed" | "clients" | "domain"
>;

/** What the outgoing queue keeps of a link's mail. */
export interface LinkMailPayload extends NoticePayload {
  linkId: string;
}

/**
 * @param linkId a ULID that no other link has
 * @param link without what the commit knows
 */
export function stageLink<L extends LinkRecord>(
  transaction: Transaction,
  linkId: string,
  link: Omit<L, "v" | "expiresAtMs">,
  lifeMs: number,
  random: (sizeBytes: number) => Uint8Array,
): L {
  const { nowMs: dueMs } = transaction;
  const made = { ...link, v: 1, expiresAtMs: dueMs + lifeMs } as L;
  transaction.putRecord(linkKey(linkId), made, lifeMs + EXPIRY_MARGIN_MS);
  const payload: LinkMailPayload = { ...newNotice(random), linkId };
  const destination = domainTag(made.email);
  const id = `${LINK_MAIL_KIND}/${linkId}`;
  stageNewOutgoing(transaction, { id, kind: LINK_MAIL_KIND, destination, payload, dueMs });
  return made;
}
