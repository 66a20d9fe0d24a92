/** What is kept of a ban for the operator, and the list of bans. */
import type { AgentCore } from "../agents/agent_core.ts";
import { inKey, type InRecord } from "../mailboxes/agent_mailboxes.ts";
import type { Identity } from "../agents/agent_records.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** Stands while the agent is banned. Null where the ban is older than these records. */
export interface BanRecord {
  v: 1;
  reason: string | null;
  bannedAtMs: number | null;
}

/** The list in the order of time. */
export interface ListedBan extends BanRecord {
  address: string;
  handle: string;
}

export const banKey = defineRecord<BanRecord, [agentId: number]>(["ban"], 1, {
  holds: "reason and time of a ban",
  expires: "while it stands",
});
const listedKey = defineRow<[bannedAtMs: number, agentId: number]>(["bans"], 2, {
  holds: "the list of bans as it is shown, in the order of time (0 where it is not known)",
});

/** Writes the record of a ban, or deletes it for null. */
export function stageBan(
  transaction: Transaction,
  { id, address, handle }: Pick<Identity, "id" | "address" | "handle">,
  ban: BanRecord | null,
): void {
  const before = transaction.record(banKey(id));
  transaction.putRecord(banKey(id), ban);
  if (ban !== null) {
    const listed: ListedBan = { ...ban, address, handle };
    transaction.set(listedKey(ban.bannedAtMs ?? 0, id), listed);
  } else if (before !== null) transaction.delete(listedKey(before.bannedAtMs ?? 0, id));
}

/** Exists once every ban of the store is in the list. */
const LISTED_MARK = defineRow(["meta", "bans-listed"], 0, {
  holds: "stands once the list has every ban, older ones of this store included",
})();
const RECORDS_A_READ = 500;

/**
 * The banned agents, newest first. Bans that are older than the list are added once for each store, from the
 * mailbox records, before it is first shown.
 */
export class BanList {
  #completing: Promise<void> | null = null;
  #closed = false;

  constructor(private readonly options: Pick<AgentCore, "store" | "commits" | "identities">) {}

  /** A page, newest first; bans of unknown time come last. */
  async page(limit: number, offset: number): Promise<ListedBan[]> {
    await (this.#completing ??= this.#complete().catch((error) => {
      this.#completing = null; // the next request tries again
      throw error;
    }));
    const rows = await this.options.store.list<ListedBan>({ prefix: listedKey.under() }, {
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
    const all = { start: inKey(0), end: inKey(Number.MAX_SAFE_INTEGER) };
    for await (const rows of store.batches<InRecord>(all, { batchSize: RECORDS_A_READ })) {
      for (const { key, value } of rows) if (value.banned) await this.#add(key[1] as number);
      if (this.#closed) return;
    }
    await store.transact((transaction) => transaction.set(LISTED_MARK, { v: 1 }));
  }

  async #add(agentId: number): Promise<void> {
    const { commits, identities } = this.options;
    const agent = await identities.byId(agentId);
    await commits.submit({
      whateverTheClock: true, // the list could not be read
      plan(transaction) {
        const isListed = transaction.record(banKey(agentId)) !== null;
        if (isListed || !transaction.record(inKey(agentId))!.banned) return;
        stageBan(transaction, agent, { v: 1, reason: null, bannedAtMs: null });
      },
    });
  }

  /** Ends after the step under way; the next process starts over. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#completing?.catch(() => {});
  }
}
