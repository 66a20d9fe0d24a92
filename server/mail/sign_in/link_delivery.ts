/**
 * Delivers the mails of links. Every attempt reads the link again: one that was used, was replaced or has
 * expired is not sent.
 */
import type { Limits } from "../../base/config/limits.ts";
import {
  hasChanged,
  noticeHandler,
  type NoticeServices,
} from "../../base/notices/notice_handler.ts";
import type { OutgoingHandler } from "../../base/outgoing/outgoing_handler.ts";
import { partiesByDomain } from "../../base/outgoing/recipient_domain.ts";
import { unwanted } from "../../base/outgoing/unwanted.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { isAlive, linkKey, type LinkRecord } from "../records/link_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import { composeLinkMail } from "./link_mail.ts";
import { linkToken } from "../access/link_token.ts";
import { waitingChange } from "./owner_link.ts";
import { LINK_MAIL_KIND, type LinkMailPayload } from "./owners/queued_link.ts";

/** So many that the last is for domains that were quick (shares.ts), whatever strangers have links hang. */
const CONCURRENCY = 3;
/**
 * Greatest wait for the last reply to a link that may be asked for again. Strangers choose where it goes:
 * one that makes a next hop wait must not keep it from the others for long.
 */
const ASKED_AGAIN_MS = MINUTE_MS;

export interface LinkDeliveryOptions extends NoticeServices {
  records: Pick<RecordCache, "read">;
  secret: Pick<MailSecret, "key">;
  limits: Limits;
  baseUrl: string;
}

const WITHDRAWN = "the link works no more";

/** What the outgoing queue does with the mails of links. */
export function linkDelivery(options: LinkDeliveryOptions): OutgoingHandler<LinkMailPayload> {
  const { store, secret, from, baseUrl } = options;
  return noticeHandler<LinkMailPayload, LinkRecord>(options, {
    kind: LINK_MAIL_KIND,
    concurrency: CONCURRENCY,
    partiesOf: partiesByDomain,
    read: async ({ payload: { linkId } }) =>
      await readWanted(options, linkId) ?? unwanted(WITHDRAWN, store),
    async compose(link, { payload: { linkId, messageId }, queuedAtMs: atMs }) {
      const token = link.kind === "displaced"
        ? ""
        : linkToken(await secret.key("mail-link"), link.kind, linkId);
      const content = await composeLinkMail({ from, baseUrl, messageId, atMs, link, token });
      const finalReplyMs = link.kind === "restore" ? undefined : ASKED_AGAIN_MS;
      return { to: link.email, content, use: "link", finalReplyMs };
    },
    // Read again at once: nothing goes out, or a notice in the link's place.
    withdraw: async ({ kind }, { payload: { linkId } }) =>
      (await readWanted(options, linkId))?.kind === kind ? null : hasChanged(WITHDRAWN),
  });
}

/**
 * The link, if following it would still do anything; the notice that a displaced owner gets in place of
 * a way back that has ended; null for nothing.
 */
async function readWanted(
  { records, store, limits }: LinkDeliveryOptions,
  linkId: string,
): Promise<LinkRecord | null> {
  const link = await records.read<LinkRecord>(linkKey(linkId));
  const nowMs = store.now();
  if (!isAlive(link, nowMs)) return null;
  if (link.kind === "magic" || link.kind === "displaced") return link;
  const org = await records.read<OrgRecord>(orgKey(link.orgId));
  if (org === null) return null;
  if (waitingChange(linkId, link, org, nowMs, limits) !== null) return link;
  const isTold = link.kind === "restore" && orgState(org, nowMs, limits) !== "gone" &&
    org.verifiedEmail !== link.email;
  return isTold ? { ...link, kind: "displaced" } : null;
}
