/**
 * GET /v1/admin/bans: who is banned, newest first. Bans that are older than the list are added once
 * for each store, from the mailbox records, before it is first shown.
 */
import type { Rows } from "../storage/rows.ts";
import type { Identities } from "../agents/identities.ts";
import { inKey, type InRecord } from "../mailboxes/records.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import { BAN_LIST_PREFIX, banKey, type BanRecord, type ListedBan, stageBan } from "./ban_record.ts";

/** Exists once every ban of the store is in the list. */
const LISTED_MARK: Deno.KvKey = ["meta", "bans-listed"];
const RECORDS_A_READ = 500;

export interface BanListOptions {
  store: Rows;
  commits: GroupCommit;
  identities: Identities;
}

export class BanList {
  #completing: Promise<void> | null = null;
  #closed = false;

  constructor(private readonly options: BanListOptions) {}

  /** A page, newest first; bans of unknown time come last. */
  async page(limit: number, offset: number): Promise<ListedBan[]> {
    await (this.#completing ??= this.#complete().catch((error) => {
      this.#completing = null; // the next request tries again
      throw error;
    }));
    const rows = await this.options.store.list<ListedBan>({ prefix: BAN_LIST_PREFIX }, {
      reverse: true,
      limit: offset + limit,
    });
    return rows.slice(offset).map(({ value }) => value);
  }

  /** Adds to the list what is missing there, once for each store. */
  async #complete(): Promise<void> {
    const { store } = this.options;
    const mark = await store.get(LISTED_MARK);
    if (mark.value !== null) return;
    let start = inKey(0);
    const end = inKey(Number.MAX_SAFE_INTEGER);
    for (;;) {
      const rows = await store.list<InRecord>({ start, end }, { limit: RECORDS_A_READ });
      for (const { key, value } of rows) if (value.banned) await this.#add(key[1] as number);
      if (this.#closed) return;
      if (rows.length < RECORDS_A_READ) break;
      start = inKey(rows.at(-1)!.key[1] as number + 1);
    }
    await store.transact((transaction) => transaction.set(LISTED_MARK, { v: 1 }));
  }

  async #add(agentId: number): Promise<void> {
    const { commits, identities } = this.options;
    const agent = await identities.byId(agentId);
    const key = banKey(agentId);
    await commits.submit<null>({
      records: [inKey(agentId), key],
      sizeBytes: 1_500,
      whateverTheClock: true, // the list could not be read
      plan(turn) {
        const isListed = turn.record<BanRecord>(key) !== null;
        if (isListed || !turn.record<InRecord>(inKey(agentId))!.banned) return null;
        stageBan(turn, agent, { v: 1, reason: null, bannedAtMs: null });
        return null;
      },
    });
  }

  /** Ends after the step under way; the next process begins anew. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#completing?.catch(() => {});
  }
}
