/** Mail as the operator sees it: orgs by their figures, the queue by destination, failures. Nobody's mail. */
import { RelayError } from "../../base/errors.ts";
import { laneKey, outgoingKey, type OutgoingRow } from "../../base/outgoing/outgoing_row.ts";
import { domainOf } from "../../base/outgoing/recipient_domain.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { storageKey, type StorageRecord } from "../core/storage_quota.ts";
import { deliveryHealth } from "../figures/delivery_health.ts";
import { readFigures } from "../figures/read_figures.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MAIL_KIND, type MailPayload, partiesOf } from "../mailbox/statuses/queued_mail.ts";
import { setSuspended } from "../orgs/change_org.ts";
import { added, type Counts } from "../records/figures_record.ts";
import { addressKey, type AddressRecord } from "../records/inbox_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { messageKey, type MessageRow } from "../records/message_record.ts";
import { orgKey, type OrgRecord, type OrgState, orgState } from "../records/org_record.ts";
import type { RecentFailure, RecentFailures } from "./recent_failures.ts";

export interface OrgOverview {
  id: string;
  createdAtMs: number;
  state: Exclude<OrgState, "gone">;
  /** Its owner's address; null for a trial. */
  email: string | null;
  inboxes: number;
  storedBytes: number;
  /** Null where it is not suspended. */
  suspended: { atMs: number; reason: string | null } | null;
  /** Of the last 7 UTC days. */
  week: { accepted: number; received: number } & ReturnType<typeof deliveryHealth>;
}

export interface OrgPage {
  /** Those that need a hand first, then the newest. */
  orgs: OrgOverview[];
  /** Where older ones begin; null at the end. */
  olderThan: string | null;
  /** Whether a search has ended before it had looked at all. */
  isCut: boolean;
}

/** What waits for one domain. */
export interface QueuedDestination {
  /** Null where no waiting mail tells it any more. */
  domain: string | null;
  waiting: number;
  orgs: number;
  firstDueMs: number;
  /** Why the first of them was put back; null for a first attempt. */
  lastReason: string | null;
}

const ORGS_A_PAGE = 50;
/** A search looks at so many, the newest first. */
const SEARCHED = 2_000;
const FIGURE_DAYS = 7;
const COUNTED_ROWS = 2_000;
const SHOWN_DESTINATIONS = 20;
const HANDS_FIRST = ["critical", "warning", "healthy"] as const;

export class MailOperator {
  constructor(
    private readonly core: MailCore,
    private readonly recent: RecentFailures,
  ) {}

  /**
   * @param q an org's id, the address of its owner or a part of it, or the address of an inbox; "" for all
   * @param olderThan an id, as a page before gave it
   */
  async orgs({ q, olderThan }: { q: string; olderThan?: string }): Promise<OrgPage> {
    const wanted = q.trim().toLowerCase();
    const exact = await this.#named(wanted);
    if (exact !== null) {
      return { orgs: [await this.#overviewOf(exact)], olderThan: null, isCut: false };
    }
    const { store, limits } = this.core;
    const selector = {
      start: orgKey.under(),
      end: olderThan === undefined ? [...orgKey.under(), "org_~"] : orgKey(olderThan),
    };
    const nowMs = store.now();
    const limit = wanted === "" ? ORGS_A_PAGE : SEARCHED;
    const rows = await store.list<OrgRecord>(selector, { limit: limit + 1, reverse: true });
    const found = rows.slice(0, limit).map(({ value }) => value).filter((org) =>
      orgState(org, nowMs, limits) !== "gone" &&
      (wanted === "" || org.verifiedEmail?.toLowerCase().includes(wanted))
    );
    const orgs = await Promise.all(
      found.slice(0, ORGS_A_PAGE).map((org) => this.#overviewOf(org)),
    );
    orgs.sort((a, b) => HANDS_FIRST.indexOf(a.week.state) - HANDS_FIRST.indexOf(b.week.state));
    const hasMore = rows.length > limit;
    return {
      orgs,
      olderThan: wanted === "" && hasMore ? rows[limit - 1]!.key[1] as string : null,
      isCut: wanted !== "" && (hasMore || found.length > ORGS_A_PAGE),
    };
  }

  /** @throws RelayError `not_found` */
  async org(id: string): Promise<OrgOverview> {
    const org = await this.#standing(id);
    if (org === null) throw new RelayError("not_found", "no mail org has this id");
    return await this.#overviewOf(org);
  }

  /** Suspends an org, or lifts that. @param reason for the operator alone @throws RelayError `not_found` */
  async setSuspended(id: string, suspended: boolean, reason: string | null = null): Promise<void> {
    await this.org(id);
    await setSuspended(this.core, id, suspended, reason);
    const event = suspended ? "mail_org_suspended" : "mail_org_unsuspended";
    this.core.deps.log(event, { org_id: id });
  }

  /** What waits for the next hop, by the recipient's domain: those with the most first. */
  async destinations(): Promise<{ destinations: QueuedDestination[]; isCut: boolean }> {
    const { store } = this.core;
    const rows = await store.list({ prefix: laneKey.under(MAIL_KIND) }, { limit: COUNTED_ROWS });
    const byTag = new Map<string, { orgs: Set<string>; dues: [dueMs: number, rowId: string][] }>();
    for (const { key } of rows) {
      const [, , destination, dueMs, rowId] = key as [string, string, string, number, string];
      const { org = "", domain = "" } = partiesOf(destination);
      const one = byTag.get(domain) ?? { orgs: new Set(), dues: [] };
      one.orgs.add(org);
      one.dues.push([dueMs, rowId]);
      byTag.set(domain, one);
    }
    const largest = [...byTag.values()].toSorted((a, b) => b.dues.length - a.dues.length)
      .slice(0, SHOWN_DESTINATIONS);
    const destinations = await Promise.all(largest.map(async ({ orgs, dues }) => {
      const [firstDueMs, rowId] = dues.reduce((one, other) => other[0] < one[0] ? other : one);
      const told = await this.#domainAndReason(rowId);
      return { ...told, waiting: dues.length, orgs: orgs.size, firstDueMs };
    }));
    return { destinations, isCut: rows.length === COUNTED_ROWS };
  }

  /** Recipients of this process that failed for good, the newest first. */
  failures(): readonly RecentFailure[] {
    return this.recent.newestFirst;
  }

  async #domainAndReason(rowId: string) {
    const { records, store } = this.core;
    const row = await records.read<OutgoingRow<MailPayload>>(outgoingKey(rowId));
    if (row === null) return { domain: null, lastReason: null };
    const { orgId, inboxId, messageId, recipient } = row.payload;
    const message = await store.get<MessageRow>(messageKey(orgId, inboxId, messageId));
    const address = message.value?.recipients[recipient]?.address;
    return { domain: address === undefined ? null : domainOf(address), lastReason: row.lastReason };
  }

  /** The org that is meant by an id or by an address of one of its inboxes. */
  async #named(q: string): Promise<OrgRecord | null> {
    if (/^org_/.test(q)) return await this.#standing(`org_${q.slice(4).toUpperCase()}`);
    const { records, domain } = this.core;
    if (domainOf(q) !== domain) return null;
    const taken = await records.read<AddressRecord>(addressKey(q.slice(0, q.lastIndexOf("@"))));
    return taken === null ? null : await this.#standing(taken.orgId);
  }

  async #standing(id: string): Promise<OrgRecord | null> {
    const { records, store, limits } = this.core;
    const org = isMailId("org", id) ? await records.read<OrgRecord>(orgKey(id)) : null;
    return org === null || orgState(org, store.now(), limits) === "gone" ? null : org;
  }

  async #overviewOf(org: OrgRecord): Promise<OrgOverview> {
    const { store, records, limits } = this.core;
    const nowMs = store.now();
    const [hours, stored] = await Promise.all([
      readFigures(store, org.id, nowMs - (FIGURE_DAYS - 1) * DAY_MS, nowMs + DAY_MS),
      records.read<StorageRecord>(storageKey(org.id)),
    ]);
    const counts = hours.reduce<Counts>((sum, one) => added(sum, one.counts), {});
    const { suspendedAtMs, suspendedReason = null } = org;
    return {
      id: org.id,
      createdAtMs: org.createdAtMs,
      state: orgState(org, nowMs, limits) as OrgOverview["state"],
      email: org.verifiedEmail,
      inboxes: org.inboxes,
      storedBytes: stored?.bytes ?? 0,
      suspended: suspendedAtMs === null ? null : { atMs: suspendedAtMs, reason: suspendedReason },
      week: {
        accepted: counts.accepted ?? 0,
        received: counts.received ?? 0,
        ...deliveryHealth(counts),
      },
    };
  }
}
