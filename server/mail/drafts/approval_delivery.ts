/**
 * Delivers the mails that ask a person to approve drafts. Every attempt reads the drafts again: the mail
 * shows their current revisions, and none that was sent, discarded or asked for otherwise.
 */
import type { Limits } from "../../base/config/limits.ts";
import { forNotices } from "../../base/mailer/next_hop_uses.ts";
import {
  hasChanged,
  noticeHandler,
  type NoticeServices,
} from "../../base/notices/notice_handler.ts";
import type { OutgoingHandler, OutgoingItem } from "../../base/outgoing/outgoing_handler.ts";
import { partiesByDomain } from "../../base/outgoing/recipient_domain.ts";
import { unwanted } from "../../base/outgoing/unwanted.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Inboxes } from "../mailbox/inboxes/inboxes.ts";
import { draftKey, type DraftRow } from "../records/draft_record.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import { linkToken } from "../access/link_token.ts";
import { APPROVAL_MAIL_KIND, type ApprovalMailPayload } from "./ask_approval.ts";
import { type AskedDraft, composeApprovalMail } from "./approval_mail.ts";
import type { Drafts } from "./drafts.ts";

/** Drafts of an org that a summary looks at, and those that it names. */
const LOOKED_AT = 2_000;
const NAMED = 50;

export interface ApprovalDeliveryOptions extends NoticeServices {
  records: Pick<RecordCache, "read">;
  secret: Pick<MailSecret, "key">;
  limits: Limits;
  drafts: Pick<Drafts, "read">;
  inboxes: Pick<Inboxes, "byId">;
  baseUrl: string;
  domain: string;
  /** RELAY_SMTP_CONNECTIONS. */
  connections: number;
}

type Item = OutgoingItem<ApprovalMailPayload>;

/** What a mail is about. */
interface Told {
  org: OrgRecord;
  email: string;
  rows: DraftRow[];
  /** Drafts that are not named for want of room. */
  more: number;
}

/** What the outgoing queue does with these mails. */
export function approvalDelivery(
  options: ApprovalDeliveryOptions,
): OutgoingHandler<ApprovalMailPayload> {
  return noticeHandler<ApprovalMailPayload, Told>(options, {
    kind: APPROVAL_MAIL_KIND,
    concurrency: forNotices(options.connections),
    partiesOf: partiesByDomain,
    read: async (item) =>
      await readTold(options, item) ?? unwanted("nothing waits for an approval", options.store),
    compose: async (told, item) => ({
      to: told.email,
      content: await compose(options, item, told),
    }),
    // A change of a draft from now on sees that this mail is under way, and asks again.
    withdraw: async (told, item) =>
      nameOf(await readTold(options, item)) === nameOf(told)
        ? null
        : hasChanged("a draft has changed"),
  });
}

/** What a mail has to tell now; null where nothing. */
async function readTold(
  { store, records, limits, drafts }: ApprovalDeliveryOptions,
  { id, payload: { orgId, draft } }: Item,
): Promise<Told | null> {
  const org = await records.read<OrgRecord>(orgKey(orgId));
  const nowMs = store.now();
  const isOff = org === null || org.suspendedAtMs !== null || org.verifiedEmail === null ||
    orgState(org, nowMs, limits) !== "verified";
  if (isOff) return null;
  const email = org.verifiedEmail!;
  const isTold = (row: DraftRow | null) =>
    row !== null && row.asked?.mailId === id && row.asked.email === email &&
    linkOf(row).untilMs > nowMs;
  if (draft !== null) {
    const row = await drafts.read({ orgId, inboxId: draft.inboxId, id: draft.id });
    return isTold(row) ? { org, email, rows: [row!], more: 0 } : null;
  }
  const all = await store.list<DraftRow>({ prefix: draftKey.under(orgId) }, {
    limit: LOOKED_AT,
    batchSize: 50,
    take: ({ value }) => isTold(value),
  });
  const rows = all.map(({ value }) => value);
  if (rows.length === 0) return null;
  return { org, email, rows: rows.slice(0, NAMED), more: Math.max(0, rows.length - NAMED) };
}

async function compose(
  { secret, records, inboxes, from, baseUrl, domain }: ApprovalDeliveryOptions,
  { payload, queuedAtMs: atMs }: Item,
  { org, email, rows, more }: Told,
): Promise<Uint8Array> {
  const key = await secret.key("mail-link");
  const keys = (await records.read<KeysRecord>(keysKey(org.id)))?.keys ?? [];
  const asked: AskedDraft[] = [];
  for (const row of rows) {
    const inbox = await inboxes.byId(org.id, row.inboxId);
    if (inbox === null) continue;
    asked.push({
      url: draftUrl(baseUrl, key, row),
      address: `${inbox.localPart}@${domain}`,
      recipients: row.to.length + row.cc.length + row.bcc.length,
      keyPrefix: keys.find(({ id }) => id === row.createdByKey)?.prefix ?? null,
      untilMs: linkOf(row).untilMs,
    });
  }
  const { messageId } = payload;
  return await composeApprovalMail({ from, to: email, baseUrl, asked, more, messageId, atMs });
}

/** Where the page of a draft's revision is. @param key the one for "mail-link" */
export function draftUrl(
  baseUrl: string,
  key: Uint8Array,
  { id, revision }: Pick<DraftRow, "id" | "revision">,
): string {
  const token = linkToken(key, "draft", id.slice("dft_".length), String(revision));
  return `${baseUrl}/mail/drafts/${id}?token=${token}`;
}

/** The newest link, which belongs to the draft as it stands. */
function linkOf({ asked }: DraftRow): { untilMs: number } {
  return asked!.links.at(-1)!;
}

function nameOf(told: Told | null): string {
  if (told === null) return "";
  return [told.email, ...told.rows.map(({ id, revision }) => `${id}/${revision}`)].join(" ");
}
