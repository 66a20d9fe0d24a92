/**
 * Ends what tells repetitions apart once nothing can rest on it: the use and all that stands beside it in
 * one commit, which memory follows. By one process at a time, in small steps, and by what the store has
 * lived alone, so that no clock that leaps frees a key.
 */
import type { GroupCommit } from "../storage/commits/group_commit.ts";
import type { Reads, Transaction } from "../storage/commits/job.ts";
import { LeasedSteps } from "../storage/leases/leased_steps.ts";
import type { Leases } from "../storage/leases/leases.ts";
import { recordName } from "../storage/commits/record_cache.ts";
import { isRecordKey, type RecordKey } from "../storage/commits/record_key.ts";
import type { Store } from "../storage/rows/store.ts";
import { indexKey, type RepetitionRow, sweepKey, type Use, useOf } from "./repetitions.ts";

/** A use whose end has come. */
export interface EndedUse extends Pick<RepetitionRow, "livedMs" | "beside" | "held"> {
  /** Key of its row in the index. */
  index: Deno.KvKey;
  /** Key of the record or row that tells the repetition; null where the index does not say. */
  key: Deno.KvKey | null;
}

/** Uses whose keys begin alike. */
export interface RepetitionKind {
  /** The first part of their keys. */
  name: string;
  /** What else the commit does that ends a use, and which records that takes. */
  extraWrites?: {
    records(use: EndedUse): readonly RecordKey<unknown>[];
    plan(transaction: Transaction, use: EndedUse): void;
  };
  /** Uses that stand in an index of former versions and are over. */
  former?(limit: number): Promise<EndedUse[]>;
}

export interface RepetitionSweepServices {
  store: Store;
  commits: Pick<GroupCommit, "submit">;
  leases: Leases;
}

const USES_A_STEP = 50;
/** Checks that a commit makes beyond those of its uses: the sweep, the writer slot, the journal. */
const OTHER_CHECKS = 3;

/** A part of the relay. */
export class RepetitionSweep {
  readonly #steps: LeasedSteps<RepetitionKind>;

  constructor(
    private readonly services: RepetitionSweepServices,
    kinds: readonly RepetitionKind[],
  ) {
    this.#steps = new LeasedSteps({
      leases: services.leases,
      name: "repetitions",
      pending: async () => {
        const pending: RepetitionKind[] = [];
        if (!services.store.clock.isSure) return pending; // no commit would be taken
        for (const kind of kinds) {
          // One that cannot be looked at fails in its step, which holds up no other.
          const ended = await this.#ended(kind, 1).catch(() => null);
          if (ended === null || ended.length > 0) pending.push(kind);
        }
        return pending;
      },
      step: (kind) => this.#step(kind),
    });
  }

  /** Works until nothing is over, or another process works. */
  everyMinute(): Promise<void> {
    return this.#steps.run();
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #ended(kind: RepetitionKind, limit: number): Promise<EndedUse[]> {
    const { store } = this.services;
    const prefix = indexKey.under(kind.name);
    const end = [...prefix, store.lived()];
    const rows = await store.list<RepetitionRow>({ prefix, end }, { limit });
    if (rows.length === 0) return await kind.former?.(limit) ?? [];
    return rows.map(({ key, value }) => ({ ...value, index: key, key: useOf(key) }));
  }

  /** One commit. @returns whether more may be left */
  async #step(kind: RepetitionKind): Promise<boolean> {
    const { store, commits } = this.services;
    if (!store.clock.isSure) return false;
    const sweep = sweepKey(kind.name);
    return await commits.submit({
      prepare: async (reads: Reads) => {
        await reads.get(sweep); // before any row
        const uses = await this.#fitting(kind, await this.#ended(kind, USES_A_STEP), reads);
        return { uses, rows: await this.#readRows(uses) };
      },
      plan(transaction, { uses, rows }) {
        if (uses.length === 0) return false;
        transaction.putRecord(sweep, { attempt: transaction.attempt });
        for (const use of uses) {
          transaction.delete(use.index);
          endUse(transaction, use, rows);
          kind.extraWrites?.plan(transaction, use);
        }
        return true;
      },
    });
  }

  /**
   * The first of them, as many as one commit can check, with their records read. What is beside them is left
   * to the plan: others change that all the time, and what is prepared would be outdated each time.
   */
  async #fitting(kind: RepetitionKind, ended: readonly EndedUse[], reads: Reads) {
    const most = this.services.store.capacity.checks - OTHER_CHECKS;
    const checked = new Set<string>();
    const uses: EndedUse[] = [];
    for (const use of ended) {
      const own = [...use.key === null ? [] : [use.key], ...kind.extraWrites?.records(use) ?? []]
        .filter(isRecordKey);
      const fresh = own.map(recordName).filter((name) => !checked.has(name));
      if (uses.length > 0 && checked.size + fresh.length > most) break;
      for (const name of fresh) checked.add(name);
      uses.push(use);
    }
    const keys = uses.map(({ key }) => key).filter((key) => key !== null).filter(isRecordKey);
    await Promise.all(keys.map((key) => reads.get(key)));
    return uses;
  }

  /** Those uses that are no records: whoever makes them anew has the sweep made anew. */
  async #readRows(uses: readonly EndedUse[]): Promise<Map<EndedUse, Pick<Use, "livedMs"> | null>> {
    const plain = uses.filter(({ key }) => key !== null && !isRecordKey(key));
    const rows = await this.services.store.getMany<Pick<Use, "livedMs">[]>(
      plain.map(({ key }) => key!),
    );
    return new Map(plain.map((use, i) => [use, rows[i]!.value]));
  }
}

function endUse(
  transaction: Transaction,
  use: EndedUse,
  rows: ReadonlyMap<EndedUse, Pick<Use, "livedMs"> | null>,
): void {
  const { key, livedMs, beside = [] } = use;
  if (key === null) return;
  const isRecord = isRecordKey(key);
  const found = isRecord ? transaction.record<Pick<Use, "livedMs">>(key) : rows.get(use) ?? null;
  // Used again since: the later use has a row of its own.
  if (found !== null && (found.livedMs ?? 0) !== livedMs) return;
  if (isRecord) transaction.putRecord(key, null);
  else transaction.delete(key);
  for (const more of beside) transaction.delete([...key, ...more]);
}
