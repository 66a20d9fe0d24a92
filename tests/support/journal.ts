/** The journal of an exclusive store alone, over a store whose answers a test may hold, lose or refuse. */
import assert from "node:assert/strict";
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { Journal, type JournalBounds } from "../../server/base/storage/journal/journal.ts";
import { journalKey, type JournalRow } from "../../server/base/storage/journal/journal_row.ts";
import type { Backend, Write } from "../../server/base/storage/rows/backend.ts";
import { createFakeKv, type FakeCommit, type FakeKvOptions } from "./fake_kv.ts";
import { delay } from "./pace.ts";

/** Bounds that nothing reaches: nothing is saved before the journal is closed. */
export const NEVER: JournalBounds = {
  rows: 100_000,
  changes: 100_000,
  bytes: 100_000_000,
  afterMs: 1_000_000,
};

export const set = (name: string, value: unknown, expireInMs?: number): Write => ({
  kind: "set",
  key: ["row", name],
  value,
  ...(expireInMs === undefined ? {} : { expireInMs }),
});
export const remove = (name: string): Write => ({ kind: "delete", key: ["row", name] });

export interface ControlledJournal {
  /** What the store itself has. */
  kv: Deno.Kv;
  journal: Journal;
  /** What came to the store since it was opened. */
  commits: FakeCommit[];
  /** Failures that it told of. */
  failures: unknown[];
  /** A value as the journal gives it; undefined where there is no row. */
  read(name: string): Promise<unknown>;
  /** A value as it stands in its own row, which may be behind. */
  stored(name: string): Promise<unknown>;
}

export interface ControlledOptions extends Pick<FakeKvOptions, "intercept"> {
  bounds?: JournalBounds;
  now?: () => number;
  /** Stands between the journal and the store. */
  over?: (store: Backend) => Backend;
}

/** A journal over a store that others may have used before. Closes neither. */
export async function openJournal(
  kv: Deno.Kv,
  { bounds = NEVER, now, over = (store) => store, intercept }: ControlledOptions = {},
): Promise<ControlledJournal> {
  const fake = createFakeKv({ kv, maxChecks: 100, intercept });
  const failures: unknown[] = [];
  const journal = await Journal.open(over(new KvBackend(fake)), {
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    bounds,
    now,
    onFailure: (error) => void failures.push(error),
  });
  const valueOf = ({ value, versionstamp }: Deno.KvEntryMaybe<unknown>) =>
    versionstamp === null ? undefined : value;
  return {
    kv,
    journal,
    commits: fake.commits,
    failures,
    read: async (name) => valueOf(await journal.get(["row", name])),
    stored: async (name) => valueOf(await kv.get(["row", name])),
  };
}

/** The same over a store of its own, both closed in the end. */
export async function withJournal(
  body: (controlled: ControlledJournal) => Promise<void>,
  options: ControlledOptions = {},
): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  const controlled = await openJournal(kv, options);
  try {
    await body(controlled);
  } finally {
    await controlled.journal.close();
  }
}

/** What a commit is to the journal. */
export type Step = "commit" | "use up" | "raise" | "save" | "deletion";

export function stepOf({ checks, writes }: FakeCommit): Step {
  if (writes.some(({ key }) => `${key}` === "meta,journal")) return "raise";
  if (checks.some(({ key }) => `${key}` === "meta,journal")) return "save";
  const row = writes.find(({ key, kind }) => key[0] === "journal" && kind === "set");
  if (row === undefined) return "deletion";
  return (row.value as JournalRow).by === null ? "use up" : "commit";
}

/** Numbers of the journal's rows in the store. */
export async function journalNumbers(kv: Deno.Kv): Promise<number[]> {
  const rows = await Array.fromAsync(kv.list({ prefix: journalKey.under() }));
  return rows.map(({ key }) => key[1] as number);
}

/** A gate before the calls of one kind. */
export class Gate {
  #closed: PromiseWithResolvers<void> | null = null;
  /** How many have come to it while it was closed. */
  held = 0;

  close(): void {
    this.#closed ??= Promise.withResolvers();
  }

  open(): void {
    this.#closed?.resolve();
    this.#closed = null;
  }

  async pass(): Promise<void> {
    if (this.#closed === null) return;
    this.held++;
    await this.#closed.promise;
  }

  async reached(times = 1): Promise<void> {
    await until(() => this.held >= times);
  }
}

/** Waits for a state of the store or of memory. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !await holds(); tries++) {
    assert.ok(tries < 2_000, "it never came");
    await delay(2);
  }
}
