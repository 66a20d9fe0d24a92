/**
 * The directory in few rows, for processes that start without it in memory. A row is a block of
 * consecutive agent ids. The state row holds the number of the last change in them. Later changes
 * are read from the log.
 *
 * A block may be newer than that number, never older. A process that builds writes its name into the
 * state row first, and blocks for as long as that stands there. A process that loads uses the blocks
 * only when no process has built meanwhile.
 */
import { AGENT_COUNT } from "../agents/register_agent.ts";
import { randomId } from "../../base/storage/rows/random_id.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import type { RowTransaction } from "../../base/storage/rows/row_transaction.ts";
import { changeKey, LISTING_LOG, listingKey, type ListingLog, type ListingRow } from "./listing.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** ["directory", "packs"] */
interface PacksState {
  v: 1;
  /** The last change that the blocks hold. */
  seq: number;
  /** The highest agent id in them. */
  upToId: number;
  /** Set while they are being built. */
  builder: string | null;
}

/** ["directory", "pack", block, n] */
interface PackRow {
  v: 1;
  listings: ListingRow[];
}

const PACKS_STATE = defineRow(["directory", "packs"], 0, {
  holds: "the change up to which the packs are good, on shared stores",
})();
const packKey = defineRow<[block: number, n: number]>(["directory", "pack"], 2, {
  holds: "the directory in blocks of 128 agents for cold starts, on shared stores",
});

const IDS_A_BLOCK = 128;
const ROW_BYTES = 45_000;
/** Bytes of the fields of a listing that are not text, in the store's encoding. */
const LISTING_BYTES = 160;
/** Smaller directories are read from their rows as fast. */
const MIN_AGENTS = 2_000;

export class DirectoryPacks {
  constructor(private readonly store: Store, private readonly minAgents = MIN_AGENTS) {}

  /**
   * Gives every listing as of some change.
   * @returns that change and the highest agent id. Null when there are no packs, or when a process
   * built meanwhile: what was given must then not be used
   */
  async load(
    give: (listing: ListingRow) => void,
  ): Promise<{ seq: number; upToId: number } | null> {
    const store = this.store;
    const before = await this.#state();
    if (before.value === null || before.value.builder !== null) return null;
    for await (
      const rows of store.batches<PackRow>({ prefix: packKey.under() }, { batchSize: 10 })
    ) {
      for (const { value } of rows) for (const listing of value.listings) give(listing);
    }
    if ((await this.#state()).versionstamp !== before.versionstamp) return null;
    const { seq, upToId } = before.value;
    return { seq, upToId };
  }

  /**
   * Packs what has changed since the last call of any process. A process that is overtaken stops.
   */
  async build(): Promise<void> {
    const store = this.store;
    const [state, log, count] = await store.getMany<[PacksState, ListingLog, number]>([
      PACKS_STATE,
      LISTING_LOG,
      AGENT_COUNT,
    ]);
    const seq = log.value?.seq ?? 0;
    const upToId = count.value ?? 0;
    const packed = state.value ?? { v: 1, seq: 0, upToId: 0, builder: null };
    if (upToId < this.minAgents && state.value === null) return;
    if (packed.builder === null && packed.seq === seq && packed.upToId === upToId) return;

    const builder = randomId(store);
    const isClaimed = await store.transact(async (transaction) => {
      const { versionstamp } = await transaction.get(PACKS_STATE);
      if (versionstamp !== state.versionstamp) return false;
      transaction.set(PACKS_STATE, { ...packed, builder });
      return true;
    });
    if (!isClaimed) return;
    for (const block of await this.#changedBlocks(packed, seq, upToId)) {
      if (!(await this.#pack(block, builder))) return;
    }
    await this.#changeAs(builder, (transaction) => {
      transaction.set(PACKS_STATE, { v: 1, seq, upToId, builder: null });
    });
  }

  #state(): Promise<Deno.KvEntryMaybe<PacksState>> {
    return this.store.get<PacksState>(PACKS_STATE);
  }

  /** @returns false, and changes nothing, when another process has begun to build */
  #changeAs(builder: string, change: (transaction: RowTransaction) => void): Promise<boolean> {
    return this.store.transact(async (transaction) => {
      const { value } = await transaction.get<PacksState>(PACKS_STATE);
      if (value?.builder !== builder) return false;
      change(transaction);
      return true;
    });
  }

  async #changedBlocks(packed: PacksState, seq: number, upToId: number): Promise<Set<number>> {
    const blocks = new Set<number>();
    for (let id = packed.upToId + 1; id <= upToId; id++) blocks.add(blockOf(id));
    let changes = 0;
    const selector = { start: changeKey(packed.seq + 1), end: changeKey(seq + 1) };
    for await (const rows of this.store.batches<number>(selector)) {
      changes += rows.length;
      for (const { value } of rows) blocks.add(blockOf(value));
    }
    // Changes that have expired may concern any agent. A build that stopped half-way has lost
    // nothing.
    if (changes < seq - packed.seq) {
      for (let block = 0; block <= blockOf(upToId); block++) blocks.add(block);
    }
    return blocks;
  }

  async #pack(block: number, builder: string): Promise<boolean> {
    const { store } = this;
    const first = block * IDS_A_BLOCK;
    const selector = { start: listingKey(first), end: listingKey(first + IDS_A_BLOCK) };
    const listings = await store.list<ListingRow>(selector);
    const rows = inRows(listings.map(({ value }) => value));
    const former = await store.list({ prefix: packKey.under(block) });
    return await this.#changeAs(builder, (transaction) => {
      for (const [n, row] of rows.entries()) {
        transaction.set(packKey(block, n), { v: 1, listings: row } satisfies PackRow);
      }
      for (const { key } of former) {
        if (key[3] as number >= rows.length) transaction.delete(key);
      }
    });
  }
}

function blockOf(agentId: number): number {
  return Math.floor(agentId / IDS_A_BLOCK);
}

function inRows(listings: readonly ListingRow[]): ListingRow[][] {
  const rows: ListingRow[][] = [[]];
  let sizeBytes = 0;
  for (const listing of listings) {
    const text = JSON.stringify(listing);
    // Text with a letter that is not Latin takes two bytes a letter.
    const bytes = LISTING_BYTES + 2 * text.length;
    if (sizeBytes + bytes > ROW_BYTES) {
      rows.push([]);
      sizeBytes = 0;
    }
    rows.at(-1)!.push(listing);
    sizeBytes += bytes;
  }
  return rows;
}
