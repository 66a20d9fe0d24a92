/** A group commit whose commits a test may delay, refuse or lose. */
import type { JournalRow } from "../../server/base/storage/journal/journal_row.ts";
import { openMemoryKv } from "./read_through.ts";
import type { Job } from "../../server/base/storage/commits/group_commit.ts";
import { RelayError } from "../../server/base/errors.ts";
import { type CommitOutcome, createFakeKv, type FakeCommit } from "./fake_kv.ts";
import {
  mailboxKey,
  openTestStorage,
  type TestMailbox,
  type TestStorage,
  type TestStorageOptions,
} from "./storage.ts";

/** Runs between a commit and the store. */
export type Intercept = (
  commit: FakeCommit,
  run: () => Promise<CommitOutcome>,
) => Promise<CommitOutcome>;

export interface ControlledCommits {
  kv: Deno.Kv;
  storage: TestStorage;
  /** Every commit that holds letters, as it was tried. */
  commits: FakeCommit[];
}

type Write = FakeCommit["writes"][number];

/** What storage writes by itself: its slot, and the proof of what it stores. */
const isOfStorage = ({ key }: Write) =>
  key[0] === "slot" || key[0] === "attempt" || key[0] === "journal" || key[1] === "journal";

/** A number of the journal that is used up. */
const isUsedUp = ({ key, value }: Write) =>
  key[0] === "journal" && (value as JournalRow | undefined)?.by === null;

/** Runs a test on storage whose letter commits it may delay, refuse or lose. */
export async function withControlledCommits(
  body: (controlled: ControlledCommits) => Promise<void>,
  options: TestStorageOptions & { intercept?: Intercept; withFences?: boolean } = {},
): Promise<void> {
  const kv = await openMemoryKv();
  const commits: FakeCommit[] = [];
  const fake = createFakeKv({
    kv,
    maxChecks: options.capacity?.checks ?? 100,
    intercept: async (commit, run) => {
      const isFence = commit.writes.every(isUsedUp);
      if (isFence ? !options.withFences : commit.writes.every(isOfStorage)) return await run();
      commits.push(commit);
      return await (options.intercept?.(commit, run) ?? run());
    },
  });
  const storage = await openTestStorage(fake, options);
  try {
    await body({ kv, storage, commits });
    await storage.close();
  } finally {
    kv.close();
  }
}

/** Mailboxes that a commit writes. */
export function boxesOf(commit: FakeCommit): string[] {
  return commit.writes.filter(({ key }) => key[0] === "box").map(({ key }) => String(key[1]));
}

/** The head of a mailbox in the store. */
export async function headOf(kv: Deno.Kv, box: string): Promise<number> {
  return (await kv.get<TestMailbox>(mailboxKey(box))).value?.head ?? 0;
}

/** A job that adds one to a record and refuses above a bound. */
export function countJob(box: string, bound = Infinity): Job<number> {
  return {
    records: [mailboxKey(box)],
    sizeBytes: 100,
    plan(transaction) {
      const count = (transaction.record<TestMailbox>(mailboxKey(box))?.head ?? 0) + 1;
      if (count > bound) throw new RelayError("banned", "full");
      transaction.putRecord(mailboxKey(box), { head: count, attempt: transaction.attempt });
      return count;
    },
  };
}
