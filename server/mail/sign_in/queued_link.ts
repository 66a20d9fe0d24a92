/** Stores a link, or a notice without one, and queues its mail, in one commit (mail page, "Server secrets"). */
import { Buffer } from "node:buffer";
import { outgoingKey, stageOutgoing } from "../../outgoing/outgoing_row.ts";
import { domainTag } from "../../outgoing/recipient_domain.ts";
import type { Turn } from "../../storage/job.ts";
import type { RecordKey } from "../../storage/record_key.ts";
import { EXPIRY_MARGIN_MS } from "../../storage/store.ts";
import {
  type DisplacedNotice,
  linkKey,
  type LinkRecord,
  RESTORE_MS,
} from "../records/link_record.ts";

export const LINK_MAIL_KIND = "mail-link";

/** What the outgoing queue keeps of a link's mail; address, token and words are made when it is sent. */
export interface LinkMailPayload {
  v: 1;
  linkId: string;
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  /** How often the next hop refused it permanently. */
  refusals: number;
}

const rowId = (linkId: string): string => `${LINK_MAIL_KIND}/${linkId}`;

/** Records that a job must name to call stageLink() or stageNotice(). */
export function linkRecords(linkId: string): RecordKey<unknown>[] {
  return [linkKey(linkId), outgoingKey(rowId(linkId))];
}

/** @param link without what the commit knows */
export function stageLink<L extends LinkRecord>(
  turn: Turn,
  linkId: string,
  link: Omit<L, "v" | "attempt" | "expiresAtMs">,
  lifeMs: number,
  random: (sizeBytes: number) => Uint8Array,
): L {
  const { nowMs, attempt } = turn;
  const made = { ...link, v: 1, attempt, expiresAtMs: nowMs + lifeMs } as L;
  turn.putRecord(linkKey(linkId), made, lifeMs + EXPIRY_MARGIN_MS);
  const payload: LinkMailPayload = {
    v: 1,
    linkId,
    messageId: Buffer.from(random(16)).toString("hex"),
    refusals: 0,
  };
  const destination = domainTag(made.email);
  const id = rowId(linkId);
  stageOutgoing(turn, { id, kind: LINK_MAIL_KIND, destination, payload, dueMs: nowMs });
  return made;
}

/** Tells somebody that an org is not theirs any more, and that they have no way back. */
export function stageNotice(
  turn: Turn,
  noticeId: string,
  { orgId, email }: Pick<DisplacedNotice, "orgId" | "email">,
  random: (sizeBytes: number) => Uint8Array,
): void {
  const notice = { kind: "displaced", orgId, email, sinceMs: turn.nowMs } as const;
  stageLink<DisplacedNotice>(turn, noticeId, notice, RESTORE_MS, random);
}
