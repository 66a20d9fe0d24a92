/**
 * Searches mail by reading it, the newest first (docs/mail.md, "Searching"): what the index has found,
 * where there is one, else all of it. A search looks at so many messages in so much time, in turns, and
 * says where to go on.
 */
import type { Blobs } from "../../base/blobs/blobs.ts";
import { unavailable } from "../../base/errors.ts";
import { BoundedPage } from "../../base/http/fields/bounded_page.ts";
import { Semaphore } from "../../base/bounds/semaphore.ts";
import { SliceClock } from "../../base/slices/slice_clock.ts";
import type { Rows } from "../../base/storage/rows/rows.ts";
import { ulidTimeMs } from "../../base/storage/rows/ulid.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { ShownHead } from "../reading/parsed/encoded_texts.ts";
import { readHead } from "../mailbox/messages/read_head.ts";
import { leastMailId } from "../records/mail_id.ts";
import type { MessageRow } from "../records/message_record.ts";
import type { Highlights } from "./highlights.ts";
import type { MailIndex } from "./mail_index.ts";
import { matchMessage } from "./match_message.ts";
import { newestMessages } from "./newest_messages.ts";
import type { Term } from "./search_terms.ts";
import { TermMatcher } from "./term_matcher.ts";

export interface MailSearchServices {
  store: Rows;
  blobs: Pick<Blobs, "read">;
  /** Null where the store is not on a disk of this process alone. */
  index?: Pick<MailIndex, "rows" | "match"> | null;
  /** Monotonic milliseconds. */
  now?: () => number;
  bounds?: SearchBounds;
}

export interface SearchBounds {
  /** Messages that one search looks at. */
  messages: number;
  /** How long it looks; one message at least. */
  lookMs: number;
  /** Concurrent searches, for one org and for all, and how many more wait in a queue. */
  perOrg: number;
  atOneTime: number;
  waiting: number;
}

const BOUNDS: SearchBounds = {
  messages: 2_000,
  lookMs: 2_000,
  perOrg: 2,
  atOneTime: 2,
  waiting: 8,
};

export interface AskedSearch {
  /** Without terms nothing is found. */
  terms: readonly Term[];
  inboxIds: readonly string[];
  direction?: MessageRow["direction"];
  /** Messages of this time or later, and of an earlier one; unix ms. */
  afterMs?: number;
  beforeMs?: number;
  /** Id behind which the search goes on; null for the first page. */
  position: string | null;
}

/** What ends a page, and how its rows are made. */
export interface SearchPage<Row> {
  limit: number;
  maxBytes: number;
  sizeOf(row: Row): number;
  make(found: FoundMessage): Row;
}

export interface FoundMessage {
  row: MessageRow;
  highlights: Highlights;
}

export interface FoundPage<Row> {
  rows: Row[];
  /** Id of the last message that was looked at; null where there is nothing behind it. */
  next: string | null;
  /** Whether the search stopped for its bounds. */
  isPartial: boolean;
}

interface LookedAt {
  row: MessageRow;
  head: ShownHead | null;
  /** What a worker says; undefined where none has read the message. */
  matched: Highlights | null | undefined;
}

/** Messages whose texts are read together. */
const TEXTS_AT_ONCE = 8;
/** A search leaves others half of the main thread. */
const SLICES = { sliceMs: 5, restMs: (workedMs: number) => Math.min(workedMs, 50) };
/** Ids and times differ only where a clock went back. */
const CLOCK_SLACK_MS = DAY_MS;

export class MailSearch {
  readonly #bounds: SearchBounds;
  readonly #now: () => number;
  readonly #places: Semaphore;
  readonly #ofOrgs: Semaphore<string>;

  constructor(private readonly services: MailSearchServices) {
    this.#bounds = services.bounds ?? BOUNDS;
    this.#now = services.now ?? (() => performance.now());
    this.#ofOrgs = new Semaphore({ permits: this.#bounds.perOrg });
    this.#places = new Semaphore({
      permits: this.#bounds.atOneTime,
      maxWaiting: this.#bounds.waiting,
      refusal: () => unavailable("too many searches wait at this relay; search again", 2_000),
    });
  }

  /** @throws RelayError `unavailable` while too many searches are under way */
  async find<Row>(
    orgId: string,
    asked: AskedSearch,
    page: SearchPage<Row>,
  ): Promise<FoundPage<Row>> {
    if (asked.terms.length === 0 || asked.inboxIds.length === 0) {
      return { rows: [], next: null, isPartial: false };
    }
    const giveBack = this.#ofOrgs.tryTake(orgId);
    if (giveBack === null) {
      const { perOrg } = this.#bounds;
      throw unavailable(`an org has at most ${perOrg} searches under way at one time`, 2_000);
    }
    try {
      return await this.#places.run(() => this.#scan(orgId, asked, page));
    } finally {
      giveBack();
    }
  }

  async #scan<Row>(
    orgId: string,
    asked: AskedSearch,
    { make, ...bounds }: SearchPage<Row>,
  ): Promise<FoundPage<Row>> {
    let untilMs: number | null = null;
    const slices = new SliceClock(this.#now, SLICES);
    const { blobs } = this.services;
    const matcher = new TermMatcher(asked.terms);
    const page = new BoundedPage<Row>(bounds);
    let position: string | null = null;
    let looked = 0;
    for await (const some of this.#batches(orgId, asked, bounds.limit)) {
      slices.begin();
      untilMs ??= this.#now() + this.#bounds.lookMs; // waiting for a worker is no looking
      for (const { row, head, matched } of some) {
        if (page.rows.length >= bounds.limit) {
          return { rows: page.rows, next: position, isPartial: false };
        }
        if (looked >= this.#bounds.messages || (looked > 0 && this.#now() >= untilMs)) {
          return { rows: page.rows, next: position, isPartial: true };
        }
        looked++;
        const found = !fits(row, asked)
          ? null
          : matched !== undefined
          ? matched
          : await matchMessage({ blobs, matcher, slices }, row, head);
        if (found !== null) {
          page.add([make({ row, highlights: found })]);
          if (page.hasMore) return { rows: page.rows, next: position, isPartial: false };
        }
        position = row.id;
      }
    }
    return { rows: page.rows, next: null, isPartial: false };
  }

  /** Messages in small numbers, which are matched by a worker, or whose texts are read together. */
  async *#batches(
    orgId: string,
    asked: AskedSearch,
    limit: number,
  ): AsyncGenerator<LookedAt[]> {
    const { blobs, index = null } = this.services;
    const read = async (rows: readonly MessageRow[]): Promise<LookedAt[]> => {
      const fitting = rows.filter((row) => fits(row, asked));
      const matches = await index?.match(asked.terms, fitting) ?? [];
      return await Promise.all(rows.map(async (row) => {
        const at = fitting.indexOf(row);
        const matched = matches[at];
        const hasText = at >= 0 && matched === undefined && row.textSource !== "none";
        return { row, matched, head: hasText ? await readHead({ blobs }, row) : null };
      }));
    };
    let rows: MessageRow[] = [];
    for await (const row of this.#rows(orgId, asked, limit)) {
      // What comes after it is older still.
      if (asked.afterMs !== undefined && timeOf(row.id) < asked.afterMs) break;
      rows.push(row);
      if (rows.length < TEXTS_AT_ONCE) continue;
      yield await read(rows);
      rows = [];
    }
    if (rows.length > 0) yield await read(rows);
  }

  /** All messages in which the terms may stand; behind the position, and further. */
  #rows(orgId: string, asked: AskedSearch, limit: number): AsyncGenerator<MessageRow> {
    const { store, index = null } = this.services;
    const { terms, inboxIds, direction, afterMs, beforeMs } = asked;
    const below = firstPosition(asked);
    if (index === null) {
      const all = inboxIds.map((inboxId) => ({ inboxId, knownTo: null }));
      return newestMessages(store, orgId, all, below);
    }
    const from = afterMs === undefined ? null : leastMailId("msg", Math.max(0, afterMs));
    const created = beforeMs === undefined
      ? null
      : { beforeMs, surelyBelow: leastMailId("msg", Math.max(0, beforeMs)) };
    return index.rows(orgId, { inboxIds, terms, direction, below, from, created, limit });
  }
}

function fits(row: MessageRow, { direction, afterMs, beforeMs }: AskedSearch): boolean {
  return (direction === undefined || row.direction === direction) &&
    (afterMs === undefined || row.createdAtMs >= afterMs) &&
    (beforeMs === undefined || row.createdAtMs < beforeMs);
}

/** Where the first look begins: a search for old mail need not look at newer mail. */
function firstPosition({ position, beforeMs }: AskedSearch): string | null {
  if (beforeMs === undefined) return position;
  const least = leastMailId("msg", Math.max(0, beforeMs) + CLOCK_SLACK_MS);
  return position === null || least < position ? least : position;
}

function timeOf(messageId: string): number {
  return ulidTimeMs(messageId.slice("msg_".length));
}
