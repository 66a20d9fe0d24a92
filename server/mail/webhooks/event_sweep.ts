/**
 * Takes away what is left of events: after 7 days the event with its body, and of one that was erased
 * earlier what receivers answered to it. By one process at a time, in small commits.
 */
import type { Blobs } from "../../base/blobs/blobs.ts";
import { describeFailure } from "../../base/describe_failure.ts";
import type { Log } from "../../base/log.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import { LeasedSteps } from "../../base/storage/leases/leased_steps.ts";
import type { Leases } from "../../base/storage/leases/leases.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Row } from "../../base/storage/rows/rows.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { CLOCK_SKEW_MS } from "../../base/time/clock_skew.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { erasedEventKey } from "../core/erase_events.ts";
import { EVENT_KEPT_MS, eventEndKey, eventKey, type EventRow } from "../records/event_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import { attemptKey, type AttemptRow, webhookKey } from "../records/webhook_record.ts";

export interface EventSweepOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  leases: Leases;
  blobs: Pick<Blobs, "drop">;
  log: Log;
}

/** What there is to do: an org's answers are blanked together. */
type Work = { what: "ended" } | { what: "far ahead" } | { what: "erased"; orgId: string };

const EVENTS_A_STEP = 50;
/** An attempt that was under way at an erasure has stored its outcome by then, or finds the event gone. */
const SETTLED_MS = 5 * MINUTE_MS;

export class EventSweep {
  readonly #steps: LeasedSteps<Work>;

  constructor(private readonly options: EventSweepOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "mail-events",
      pending: () => this.#pending(),
      step: (work) => this.#step(work),
    });
  }

  /** Works until nothing is left or another process works. */
  run(): Promise<void> {
    return this.#steps.run();
  }

  /** Works in the background; what fails is logged, and the next minute tries again. */
  begin(): void {
    this.run().catch((error) => this.options.log("mail_events_stopped", describeFailure(error)));
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #pending(): Promise<Work[]> {
    const work: Work[] = [];
    if (!this.options.store.clock.isSure) return work; // no commit would be taken
    if ((await this.#ended(1)).length > 0) work.push({ what: "ended" });
    if ((await this.#farAhead(1)).length > 0) work.push({ what: "far ahead" });
    const [erased] = await this.#erased(erasedEventKey.under(), 1);
    if (erased !== undefined) work.push({ what: "erased", orgId: erased.key[1] as string });
    return work;
  }

  async #step(work: Work): Promise<boolean> {
    if (!this.options.store.clock.isSure) return false;
    if (work.what === "ended") return await this.#endSome();
    if (work.what === "far ahead") return await this.#bringBackSome();
    return await this.#blankSome(work.orgId);
  }

  /** Index rows of events whose time is over. */
  async #ended(limit: number): Promise<Row<unknown>[]> {
    const { store } = this.options;
    const selector = { prefix: eventEndKey.under(), end: eventEndKey.under(store.now() + 1) };
    return await store.list(selector, { limit });
  }

  /** Of events that happened while the clock was ahead: they would be kept until then. */
  async #farAhead(limit: number): Promise<Row<unknown>[]> {
    const { store } = this.options;
    const start = eventEndKey.under(store.now() + EVENT_KEPT_MS + CLOCK_SKEW_MS + 1);
    return await store.list({ prefix: eventEndKey.under(), start }, { limit });
  }

  async #endSome(): Promise<boolean> {
    const { store, commits, blobs } = this.options;
    const ended = await this.#ended(EVENTS_A_STEP);
    if (ended.length === 0) return false;
    const events = await store.getMany<EventRow[]>(ended.map(({ key }) => eventOf(key)));
    await commits.submit((transaction) => {
      for (const { key } of ended) transaction.delete(key);
      for (const { key, value } of events) {
        transaction.delete(key);
        if (!value?.body) continue;
        blobs.drop(transaction, value.body);
        // Answers in the log may repeat it, and outlive its message.
        const [, orgId, , , eventId] = key as [string, string, string, string, string];
        transaction.set(erasedEventKey(orgId, eventId), transaction.nowMs);
      }
    });
    return true;
  }

  async #bringBackSome(): Promise<boolean> {
    const rows = await this.#farAhead(EVENTS_A_STEP);
    if (rows.length === 0) return false;
    await this.options.commits.submit((transaction) => {
      for (const { key, value } of rows) {
        const [, , ...name] = key as [string, number, string, string, string, string];
        transaction.delete(key);
        transaction.set(eventEndKey(transaction.nowMs + EVENT_KEPT_MS, ...name), value);
      }
    });
    return true;
  }

  /** Erased events whose attempts have settled; those by a clock that was ahead have too. */
  async #erased(prefix: Deno.KvKey, limit: number): Promise<Row<number>[]> {
    const { store } = this.options;
    const nowMs = store.now();
    return await store.list<number>({ prefix }, {
      limit,
      take: ({ value: atMs }) => Math.abs(nowMs - atMs) >= SETTLED_MS,
    });
  }

  /** Blanks what an org's webhooks answered to some of them: each webhook in a commit of its own. */
  async #blankSome(orgId: string): Promise<boolean> {
    const { records, commits } = this.options;
    const erased = await this.#erased(erasedEventKey.under(orgId), EVENTS_A_STEP);
    if (erased.length === 0) return false;
    const eventIds = new Set(erased.map(({ key }) => key[2] as string));
    const org = await records.read<OrgRecord>(orgKey(orgId));
    for (const { id } of org?.webhooks ?? []) await this.#blank(orgId, id, eventIds);
    await commits.submit((transaction) => {
      for (const { key } of erased) transaction.delete(key);
    });
    return true;
  }

  /** The webhook's record guards its log: an attempt that has left it meanwhile is not written again. */
  async #blank(orgId: string, webhookId: string, eventIds: ReadonlySet<string>): Promise<void> {
    const { store, commits } = this.options;
    await commits.submit<void, Row<AttemptRow>[]>({
      async prepare(reads) {
        if (await reads.get(webhookKey(orgId, webhookId)) === null) return [];
        const take = ({ value }: Row<AttemptRow>) =>
          value.response !== "" && eventIds.has(value.eventId);
        return await store.list<AttemptRow>({ prefix: attemptKey.under(orgId, webhookId) }, {
          take,
        });
      },
      plan(transaction, rows) {
        for (const { key, value } of rows) transaction.set(key, { ...value, response: "" });
      },
    });
  }
}

/** The key of the event that an index row stands for. */
function eventOf(key: Deno.KvKey): Deno.KvKey {
  const [, , ...name] = key as [string, number, string, string, string, string];
  return eventKey(...name);
}
