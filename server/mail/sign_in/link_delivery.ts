/**
 * Delivers the mails of links. Every attempt reads the link anew: one that was used, replaced or has
 * expired goes to nobody.
 */
import type { Limits } from "../../base/config/limits.ts";
import type { Mailer } from "../../base/mailer/mailer.ts";
import type {
  AttemptOutcome,
  OutgoingHandler,
  OutgoingItem,
} from "../../base/outgoing/outgoing_handler.ts";
import { partiesByDomain } from "../../base/outgoing/recipient_domain.ts";
import { unwanted } from "../../base/outgoing/unwanted.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { LONGEST_NOTICE_WAIT_MS, noticeOutcome } from "../notices/notice_outcome.ts";
import { isAlive, linkKey, type LinkRecord } from "../records/link_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import { composeLinkMail } from "./link_mail.ts";
import { linkToken } from "../notices/link_token.ts";
import { waitingChange } from "./owner_link.ts";
import { LINK_MAIL_KIND, type LinkMailPayload } from "./owners/queued_link.ts";

/** So many that the last is for domains that were quick (shares.ts), whatever strangers have links hang. */
const CONCURRENCY = 3;
/**
 * Greatest wait for the last reply to a link that may be asked for again. Strangers choose where it goes:
 * those who have a next hop wait shall not keep it from the others for long.
 */
const ASKED_AGAIN_MS = MINUTE_MS;

export interface LinkDeliveryOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  secret: Pick<MailSecret, "key">;
  limits: Limits;
  from: { name: string; address: string };
  baseUrl: string;
  mailer: Mailer;
}

/** Thrown between 354 and the content: the link does not work any more. */
class Withdrawn extends Error {}

const WITHDRAWN = "the link works no more";

/** What the outgoing queue does with the mails of links. */
export function linkDelivery(options: LinkDeliveryOptions): OutgoingHandler<LinkMailPayload> {
  return {
    kind: LINK_MAIL_KIND,
    concurrency: CONCURRENCY,
    partiesOf: partiesByDomain,
    oneNextHop: true,
    longestPauseMs: LONGEST_NOTICE_WAIT_MS,
    attempt: (item) => attempt(options, item),
  };
}

async function attempt(
  options: LinkDeliveryOptions,
  item: OutgoingItem<LinkMailPayload>,
): Promise<AttemptOutcome<LinkMailPayload>> {
  const { store, secret, from, baseUrl, mailer } = options;
  const { linkId, messageId } = item.payload;
  const link = await readWanted(options, linkId);
  if (link === null) return unwanted(WITHDRAWN, store);
  const atMs = item.queuedAtMs;
  const token = link.kind === "displaced"
    ? ""
    : linkToken(await secret.key("mail-link"), link.kind, linkId);
  const content = await composeLinkMail({ from, baseUrl, messageId, atMs, link, token });
  try {
    const finalReplyMs = link.kind === "restore" ? {} : { finalReplyMs: ASKED_AGAIN_MS };
    const mail = {
      from: from.address,
      to: link.email,
      content,
      use: "link",
      ...finalReplyMs,
    } as const;
    const outcome = await mailer.send(mail, {
      signal: item.signal,
      async beforeContent() {
        if ((await readWanted(options, linkId))?.kind !== link.kind) throw new Withdrawn();
        await item.commitData();
      },
    });
    return noticeOutcome(item, outcome, store.random(1)[0]! / 256);
  } catch (error) {
    if (!(error instanceof Withdrawn)) throw error;
    // Read again at once: nothing goes out, or a notice in the link's place.
    return { result: "retry", reason: WITHDRAWN, afterMs: 0, untried: true };
  }
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
