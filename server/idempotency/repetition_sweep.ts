/**
 * Ends what tells repetitions apart once nothing can rest on it: the use and all that stands beside it in
 * one commit, which memory follows. By one process at a time, in small steps, and by what the store has
 * lived alone, so that no clock that leaps frees a key.
 */
import type { GroupCommit } from "../storage/group_commit.ts";
import { Outdated, type Turn } from "../storage/job.ts";
import { LeasedSteps } from "../storage/leased_steps.ts";
import type { Leases } from "../storage/leases.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import { defineRecord, isRecordKey, type RecordKey } from "../storage/record_key.ts";
import type { Store } from "../storage/store.ts";
import { type RepetitionRow, useOf, type Written } from "./repetition.ts";

/** A use whose end has come. */
export interface EndedUse extends Pick<RepetitionRow, "livedMs" | "beside" | "held"> {
  /** Of its row in the index. */
  index: Deno.KvKey;
  /** Of the record or row that tells the repetition; null where the index does not say. */
  key: Deno.KvKey | null;
}

/** Uses whose keys begin alike. */
export interface RepetitionKind {
  /** The first part of their keys. */
  name: string;
  /** What else the commit does that ends a use, and over which records. */
  alongside?: {
    records(use: EndedUse): readonly RecordKey<unknown>[];
    plan(turn: Turn, use: EndedUse): void;
  };
  /** Uses that stand in an index of former versions and are over. */
  former?(limit: number): Promise<EndedUse[]>;
}

export interface RepetitionSweepServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  commits: Pick<GroupCommit, "submit">;
  leases: Leases;
}

/**
 * ["repetition-sweep", kind]: written by each commit of a sweep, so that one which is repeated, or rests on
 * rows read before another sweep, does nothing.
 */
const sweepKey = defineRecord<{ attempt: string }, [kind: string]>(["repetition-sweep"], 1);

const USES_A_STEP = 50;
/** Checks of a commit besides those of its uses: the sweep, the writer slot, the journal. */
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
        for (const kind of kinds) if ((await this.#ended(kind, 1)).length > 0) pending.push(kind);
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
    const { lived, clock } = store;
    if (!clock.isSure) return []; // no commit would be taken
    const prefix = ["repetition", kind.name];
    const end = [...prefix, lived()];
    const rows = await store.list<RepetitionRow>({ prefix, end }, { limit });
    if (rows.length === 0) return await kind.former?.(limit) ?? [];
    return rows.map(({ key, value }) => ({ ...value, index: key, key: useOf(key) }));
  }

  /** One commit. @returns whether more may be left */
  async #step(kind: RepetitionKind): Promise<boolean> {
    const { store, records, commits } = this.services;
    const sweep = sweepKey(kind.name);
    const last = (await records.read<{ attempt: string }>(sweep))?.attempt ?? null; // before any row
    const ended = await this.#ended(kind, USES_A_STEP);
    if (ended.length === 0) return false;
    const { uses, records: own } = this.#fitting(kind, ended);
    const rows = await this.#readRows(uses);
    try {
      await commits.submit<void>({
        records: [sweep, ...own],
        sizeBytes: 500 * uses.length,
        plan(turn) {
          if ((turn.record(sweep)?.attempt ?? null) !== last) throw new Outdated();
          turn.putRecord(sweep, { attempt: turn.attempt });
          for (const use of uses) {
            turn.delete(use.index);
            endUse(turn, use, rows);
            kind.alongside?.plan(turn, use);
          }
        },
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error; // another process was at it: read again
    }
    return store.clock.isSure;
  }

  /** The first of them, as many as one commit can check. */
  #fitting(kind: RepetitionKind, ended: readonly EndedUse[]) {
    const most = this.services.store.capacity.checks - OTHER_CHECKS;
    const records = new Map<string, RecordKey<unknown>>();
    const uses: EndedUse[] = [];
    for (const use of ended) {
      const own = [...use.key === null ? [] : [use.key], ...kind.alongside?.records(use) ?? []]
        .filter(isRecordKey);
      const fresh = own.filter((key) => !records.has(JSON.stringify(key)));
      if (uses.length > 0 && records.size + fresh.length > most) break;
      for (const key of fresh) records.set(JSON.stringify(key), key);
      uses.push(use);
    }
    return { uses, records: [...records.values()] };
  }

  /** Those uses that are no records: nobody renews them any more. */
  async #readRows(uses: readonly EndedUse[]): Promise<Map<EndedUse, Partial<Written> | null>> {
    const plain = uses.filter(({ key }) => key !== null && !isRecordKey(key));
    const rows = await this.services.store.getMany<Partial<Written>[]>(
      plain.map(({ key }) => key!),
    );
    return new Map(plain.map((use, i) => [use, rows[i]!.value]));
  }
}

function endUse(
  turn: Turn,
  use: EndedUse,
  rows: ReadonlyMap<EndedUse, Partial<Written> | null>,
): void {
  const { key, livedMs, beside = [] } = use;
  if (key === null) return;
  const isRecord = isRecordKey(key);
  const found = isRecord ? turn.record<Partial<Written>>(key) : rows.get(use) ?? null;
  // Used again since: the later use has a row of its own.
  if (found !== null && (found.livedMs ?? 0) !== livedMs) return;
  if (isRecord) turn.putRecord(key, null);
  else turn.delete(key);
  for (const more of beside) turn.delete([...key, ...more]);
}
