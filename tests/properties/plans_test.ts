/**
 * Whatever happens to commits: a job that is acknowledged has changed all of its records once, by the
 * attempt of its answer; one that is refused has changed none, and not for what memory alone has said.
 * Its plan finds the records that it asks for, or rests on what it has prepared.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Job, Reads, Transaction } from "../../server/base/storage/commits/group_commit.ts";
import { RelayError } from "../../server/base/errors.ts";
import { QUEUE_BOUNDS } from "../../server/base/storage/commits/job_queue.ts";
import type { JournalRow } from "../../server/base/storage/journal/journal_row.ts";
import { defineRecord } from "../../server/base/storage/commits/record_key.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createFakeKv, type FakeKv, NO_FAULTS, seededRandom } from "../support/fake_kv.ts";
import { delay } from "../support/pace.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { openTestStorage, type TestStorage } from "../support/storage.ts";
import { openMemoryKv, storedRecord } from "../support/read_through.ts";

/** Units that jobs move to the account that is named as the next one. */
interface Account {
  units: number;
  next: string;
  /** Jobs that have changed it, with the attempts that did. */
  done: readonly (readonly [operation: number, attempt: string])[];
}

const accountKey = defineRecord<Account, [name: string]>(["account"], 1);
const NAMES = ["a", "b", "c", "d", "e", "f"];
const UNITS = 3;
const FAULTS = { deniedSuccess: 0.08, lostAnswer: 0.08, locked: 0.1, repeated: 0.08 };
/** Commits that reach the store after their process was told that they failed. */
const LATE = 0.08;
const BOUNDS = { ...QUEUE_BOUNDS, giveUpAfterMs: 1_500, checkEveryMs: 10, retryForMs: 300 };

const scenarios = fc.record({
  jobs: fc.array(
    fc.record({
      kind: fc.constantFrom("move", "move", "prepared move", "prepared move", "turn"),
      from: fc.constantFrom(...NAMES),
      next: fc.constantFrom(...NAMES),
      process: fc.nat(1),
      moveMs: fc.constantFrom(0, 0, 0, 0, 5, 1_000, 20_000, -3),
      /** Whether all before it is waited for. */
      pause: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 10, maxLength: 60, size: "max" },
  ),
  cached: fc.integer({ min: 20, max: 30 }),
  seed: fc.nat(),
});
type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;
type Asked = Scenario["jobs"][number];

const empty = () => new RelayError("banned", "no units");

function movesTo(
  from: Account,
  to: Account,
  operation: number,
  transaction: Transaction,
): [Account, Account] {
  const done = [operation, transaction.attempt] as const;
  return [
    { ...from, units: from.units - 1, done: [...from.done, done] },
    { ...to, units: to.units + 1, done: [...to.done, done] },
  ];
}

/** @returns a job that answers with the attempt that has stored it */
function jobOf({ kind, from, next }: Asked, operation: number): Job<string, Account[]> {
  const key = accountKey(from);
  if (kind === "turn") {
    return {
      plan(transaction) {
        const account = transaction.record(key)!;
        const done = [...account.done, [operation, transaction.attempt] as const];
        transaction.putRecord(key, { ...account, next, done });
        return transaction.attempt;
      },
    };
  }
  const move = (transaction: Transaction, account: Account, to: Account) => {
    if (account.units === 0) throw empty();
    // To itself: both are one record, and done once.
    const moved = movesTo(account, to, operation, transaction);
    if (account.next === from) transaction.putRecord(key, { ...moved[0], units: account.units });
    else {
      transaction.putRecord(key, moved[0]);
      transaction.putRecord(accountKey(account.next), moved[1]);
    }
    return transaction.attempt;
  };
  if (kind === "move") {
    return {
      plan(transaction) {
        const account = transaction.record(key)!;
        return move(transaction, account, transaction.record(accountKey(account.next))!);
      },
    };
  }
  return {
    async prepare(reads: Reads) {
      const account = (await reads.get<Account>(key))!;
      if (account.units === 0) throw empty();
      return [account, (await reads.get<Account>(accountKey(account.next)))!];
    },
    plan: (transaction, [account, to]) => move(transaction, account!, to!),
  };
}

async function accountsIn(kv: Deno.Kv): Promise<Map<string, Account>> {
  const rows = await Promise.all(NAMES.map((name) => storedRecord(kv, accountKey(name))));
  return new Map(NAMES.map((name, i) => [name, rows[i]!.value as Account]));
}

async function run(isExclusive: boolean, scenario: Scenario): Promise<number> {
  using kv = await openMemoryKv();
  for (const [i, name] of NAMES.entries()) {
    const next = NAMES[(i + 1) % NAMES.length]!;
    await kv.set(accountKey(name), { units: UNITS, next, done: [] } satisfies Account);
  }
  const random = seededRandom(scenario.seed);
  const late: Promise<unknown>[] = [];
  let hasFaults = true;
  const fakes: FakeKv[] = [];
  const processes: TestStorage[] = [];
  for (let i = 0; i < (isExclusive ? 1 : 2); i++) {
    const fake = createFakeKv({
      kv,
      maxChecks: isExclusive ? 100 : 10,
      seed: scenario.seed + i,
      delayMs: 1,
      async intercept(commit, run) {
        const isOfJobs = commit.writes.some(({ key, value }) =>
          isExclusive
            ? key[0] === "journal" && Boolean((value as JournalRow | undefined)?.by)
            : key[0] === "account"
        );
        if (!hasFaults || !isOfJobs || random() > LATE) {
          return await run();
        }
        late.push(delay(random() * 20).then(run));
        throw new TypeError("error sending request");
      },
    });
    fakes.push(fake);
    processes.push(
      await openTestStorage(fake, {
        exclusive: isExclusive,
        capacity: isExclusive ? EMBEDDED_CAPACITY : KV_CONNECT_CAPACITY,
        cached: scenario.cached,
        bounds: BOUNDS,
        journalBounds: { rows: 16, changes: 16, bytes: 10_000, afterMs: 1 },
      }),
    );
    Object.assign(fake.faults, FAULTS);
  }
  const answers = new Map<number, string>();
  const refused = new Set<number>();
  let open: Promise<void>[] = [];
  for (const [operation, asked] of scenario.jobs.entries()) {
    if (asked.pause) await Promise.all(open.splice(0));
    const { commits, clock } = processes[asked.process % processes.length]!;
    clock.advance(asked.moveMs);
    open.push(
      commits.submit(jobOf(asked, operation)).then(
        (attempt) => void answers.set(operation, attempt),
        (error) => {
          if (error.code === "banned") refused.add(operation);
          else assert.equal(error.code, "unavailable", error.stack);
        },
      ),
    );
  }
  await Promise.all(open);
  open = [];
  hasFaults = false;
  for (const fake of fakes) Object.assign(fake.faults, NO_FAULTS);
  await Promise.all(processes.map(({ commits }) => commits.drained()));
  await Promise.all(late);

  // Jobs of one process after the other, on what the other one has left.
  const decided: [isRefused: boolean, hasNone: boolean][] = [];
  for (const [i, name] of NAMES.entries()) {
    for (const kind of ["move", "prepared move"] as const) {
      const before = (await accountsIn(kv)).get(name)!.units;
      const asked = { ...scenario.jobs[0]!, kind, from: name };
      const operation = 1_000 + 2 * i + (kind === "move" ? 1 : 0);
      const { commits } = processes[(i + operation) % processes.length]!;
      const isRefused = await commits.submit(jobOf(asked, operation)).then(
        (attempt) => !answers.set(operation, attempt),
        (error) => {
          assert.equal(error.code, "banned", error.stack);
          refused.add(operation);
          return true;
        },
      );
      decided.push([isRefused, before === 0]);
    }
  }
  assert.deepEqual(decided.map(([isRefused]) => isRefused), decided.map(([, none]) => none));

  const accounts = [...(await accountsIn(kv)).values()];
  assert.equal(accounts.reduce((sum, { units }) => sum + units, 0), NAMES.length * UNITS);
  const done = new Map<number, Set<string>>();
  for (const account of accounts) {
    const operations = account.done.map(([operation]) => operation);
    assert.equal(new Set(operations).size, operations.length, "done twice");
    for (const [operation, attempt] of account.done) {
      done.set(operation, (done.get(operation) ?? new Set()).add(attempt));
    }
  }
  for (const [operation, attempt] of answers) {
    assert.deepEqual([...done.get(operation) ?? []], [attempt], `${operation} was acknowledged`);
  }
  for (const operation of refused) assert.ok(!done.has(operation), `${operation} was refused`);
  if (isExclusive) {
    const { records } = processes[0]!;
    const known = await Promise.all(NAMES.map((name) => records.read(accountKey(name))));
    assert.deepEqual(known, accounts, "memory is what the store holds");
  }
  for (const storage of processes) await storage.close();
  return late.length;
}

for (const isExclusive of [true, false]) {
  const store = isExclusive ? "an exclusive store" : "two processes of a shared store";
  Deno.test(`jobs that find their records or prepare on them are stored once or refused, by ${store}, through faults`, async () => {
    let late = 0;
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        late += await run(isExclusive, scenario);
      }),
      propertyRuns(20, false),
    );
    assert.ok(late > 5, `${late} commits came late`);
  });
}
