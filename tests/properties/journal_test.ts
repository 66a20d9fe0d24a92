// Over 300 lines: one model of all that commits, reads, kills and openings of a store may do.
/**
 * Whatever happens to the processes of an exclusive store: no acknowledged change is lost and no refused one
 * appears, checks decide as if one commit came after the other, and every read is the state of one moment.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { endJournal } from "../../server/base/storage/journal/end_journal.ts";
import { Journal } from "../../server/base/storage/journal/journal.ts";
import { orderedName, rangeOf } from "../../server/base/storage/journal/key_order.ts";
import type { Backend, MaybeRow, RowCheck, Write } from "../../server/base/storage/rows/backend.ts";
import { EMBEDDED_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createFakeKv, type FakeKv, NO_FAULTS, seededRandom } from "../support/fake_kv.ts";
import { journalNumbers, type Step, stepOf } from "../support/journal.ts";
import { isLong } from "../support/long_test.ts";
import { delay } from "../support/pace.ts";
import { propertyRuns } from "../support/property_runs.ts";

const FAULTS = { deniedSuccess: 0.05, lostAnswer: 0.05, locked: 0.05, repeated: 0.05 };
/** Commits that reach the store after their process was told that they failed. */
const LATE = 0.05;
const LATE_STEPS: ReadonlySet<Step> = new Set<Step>(["commit", "save"]);
const HOUR_MS = 3_600_000;

const KEYS: readonly Deno.KvKey[] = [
  ["row"],
  ["row", "a"],
  ["row", "a", 1],
  ["row", "b"],
  ["row", "b\0"],
  ["row", 3],
  ["row", -1n],
  ["row", new Uint8Array([0, 1])],
  ["s", "é"],
  ["s", true],
];
const key = fc.constantFrom(...KEYS);

/** Texts count twice in the journal, bytes once. The largest that Deno KV takes are among them. */
const form = fc.constantFrom(
  ...[0, 0, 0, 0, 9_000, 20_000, 33_000].map((length) => ({ kind: "text", length })),
  ...[4, 4, 15_000, 17_000, 64_900, 65_536].map((length) => ({ kind: "bytes", length })),
);
type Form = { kind: string; length: number };

const commit = fc.record({
  kind: fc.constant("commit" as const),
  sets: fc.uniqueArray(fc.record({ key, form, expires: fc.constantFrom(false, false, true) }), {
    maxLength: 4,
    selector: (one) => orderedName(one.key),
  }),
  deletes: fc.uniqueArray(key, { maxLength: 3, selector: orderedName }),
  /** Rows checked to be as they were at the last read of them. */
  checks: fc.uniqueArray(key, { maxLength: 3, selector: orderedName }),
  /** So many further rows set or deleted. */
  many: fc.constantFrom(0, 0, 0, 0, 0, 0, 300, -300),
  sum: fc.boolean(),
});
const read = fc.record({
  kind: fc.constant("read" as const),
  keys: fc.array(key, { minLength: 1, maxLength: 10 }),
});
const list = fc.record({
  kind: fc.constant("list" as const),
  selector: fc.oneof(
    fc.constantFrom<Deno.KvListSelector>(
      { prefix: ["row"] },
      { prefix: ["row"] },
      { prefix: ["row", "a"] },
      { prefix: ["r"] },
      { prefix: ["row"], start: ["row", "b"] },
      { prefix: ["row"], end: ["row", "b"] },
      { start: ["r", 290], end: ["row", 3] },
    ),
  ),
  limit: fc.constantFrom(1, 2, 3, 10, 400),
  reverse: fc.boolean(),
});
const step = fc.record({
  what: fc.oneof({ weight: 3, arbitrary: commit }, read, list),
  /** Real milliseconds after all before it has ended; null where it does not wait for them. */
  afterMs: fc.constantFrom(null, null, null, null, 0, 1, 5),
});
const phases = fc.array(
  fc.record({
    shared: fc.constantFrom(false, false, false, true),
    steps: fc.array(step, { minLength: 3, maxLength: 30, size: "max" }),
    /** After so many commits of the store the process is killed; never if null. */
    killedAfter: fc.option(fc.integer({ min: 0, max: 50 }), { freq: 2 }),
    /** Whether the commit that it died over was stored. */
    isStored: fc.boolean(),
    hasFaults: fc.boolean(),
    bounds: fc.record({
      rows: fc.constantFrom(1, 2, 5, 20, 1_000),
      changes: fc.constantFrom(2, 10, 1_000),
      bytes: fc.constantFrom(1_000, 100_000, 10_000_000),
      afterMs: fc.constantFrom(1, 5, 10_000),
    }),
    /** How far the system's clock has moved meanwhile. */
    movedMs: fc.constantFrom(0, 0, -HOUR_MS, HOUR_MS / 2, 2 * HOUR_MS),
    seed: fc.nat(),
  }),
  { minLength: 1, maxLength: 4 },
);
type Arbitrated<T> = T extends fc.Arbitrary<infer A> ? A : never;
type Phase = Arbitrated<typeof phases>[number];
type What = Arbitrated<typeof step>["what"];
type CommitStep = Extract<What, { kind: "commit" }>;

interface ModelRow {
  key: Deno.KvKey;
  /** Of the commit that wrote it. */
  id: number;
  expiresAtMs: number;
}
type State = ReadonlyMap<string, ModelRow>;

function valueOf(id: number, { kind, length }: Form): unknown {
  if (kind === "text") return length === 0 ? id : { id, text: "x".repeat(length) };
  const bytes = new Uint8Array(length + 50);
  new DataView(bytes.buffer).setUint32(20, id);
  return bytes.subarray(20, 20 + length);
}

function idOf(value: unknown): number {
  if (value instanceof Uint8Array) {
    return new DataView(value.buffer, value.byteOffset, value.byteLength).getUint32(0);
  }
  return typeof value === "number" ? value : (value as { id: number }).id;
}

/** What the store has to be, commit after commit, and what is known of it. */
class Model {
  /** After each commit that was acknowledged. */
  readonly states: State[] = [new Map()];
  readonly refused = new Set<number>();
  /** Commits of which nothing is known, since their process was killed. */
  readonly open = new Map<number, { writes: readonly Write[]; nowMs: number }>();
  /** Which commit a row was of when it had a versionstamp. */
  readonly stamps = new Map<string, { versionstamp: string | null; id: number | null }>();
  ids = 0;
  nowMs = Date.now();
  /** The furthest that a clock has been. */
  latestMs = this.nowMs;
  sum = 0n;

  get state(): State {
    return this.states.at(-1)!;
  }

  apply(id: number): void {
    const { writes, nowMs } = this.open.get(id)!;
    this.open.delete(id);
    const state = new Map(this.state);
    for (const write of writes) {
      const name = orderedName(write.key);
      if (write.kind === "delete") state.delete(name);
      else if (write.kind === "sum") this.sum += write.amount;
      else {
        const expiresAtMs = write.expireInMs === undefined ? Infinity : nowMs + write.expireInMs;
        state.set(name, { key: write.key, id, expiresAtMs });
      }
    }
    this.states.push(state);
  }

  isOver({ expiresAtMs }: ModelRow): boolean {
    return expiresAtMs <= this.latestMs;
  }
}

function writesOf(id: number, { sets, deletes, many, sum }: CommitStep): Write[] {
  const set = new Set(sets.map(({ key }) => orderedName(key)));
  const rows = Array.from({ length: Math.abs(many) }, (_, i): Deno.KvKey => ["r", i]);
  return [
    ...(sum ? [{ kind: "sum", key: ["sum"], amount: 1n } as const] : []),
    // Now and then a row is deleted and then set.
    ...deletes.filter((key) => id % 3 === 0 || !set.has(orderedName(key)))
      .map((key): Write => ({ kind: "delete", key })),
    ...sets.map(({ key, form, expires }): Write => ({
      kind: "set",
      key,
      value: valueOf(id, form),
      ...(expires ? { expireInMs: HOUR_MS } : {}),
    })),
    ...rows.map((key): Write =>
      many > 0 ? { kind: "set", key, value: id } : { kind: "delete", key }
    ),
    { kind: "set", key: ["done", id], value: id },
  ];
}

/** A store as one process meets it, until it is killed. */
class Life {
  readonly kv: FakeKv;
  #commits = 0;
  readonly #late: Promise<unknown>[] = [];
  readonly #died = Promise.withResolvers<void>();
  readonly died = this.#died.promise;
  #isOver = false;
  readonly #random: () => number;

  constructor(kv: Deno.Kv, { killedAfter, isStored, hasFaults, shared, seed }: Phase) {
    this.#random = seededRandom(seed);
    this.kv = createFakeKv({
      kv,
      maxChecks: 100,
      seed,
      delayMs: 1,
      intercept: async (commit, run) => {
        this.#live();
        if (this.#commits++ === killedAfter) {
          this.#end();
          if (isStored) await run();
          this.#live();
        }
        if (hasFaults && !shared && LATE_STEPS.has(stepOf(commit)) && this.#random() < LATE) {
          this.#late.push(delay(this.#random() * 12).then(run));
          throw new TypeError("error sending request");
        }
        return await run();
      },
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  #end(): void {
    this.#isOver = true;
    this.#died.resolve();
  }

  #live(): void {
    if (this.#isOver) throw new TypeError("database is killed");
  }

  /** With answers that come late, and none once it is killed. */
  get backend(): Backend {
    const store = new KvBackend(this.kv);
    const late = async <T>(call: () => Promise<T>): Promise<T> => {
      this.#live();
      const answer = await call();
      const turns = this.#random() * 4;
      if (turns > 3) await delay(this.#random() * 8);
      else for (let i = 0; i < turns; i++) await Promise.resolve();
      this.#live();
      return answer;
    };
    return {
      get: <T>(key: Deno.KvKey) => late(() => store.get<T>(key)),
      getMany: <T>(keys: readonly Deno.KvKey[]) => late(() => store.getMany<T>(keys)),
      list: <T>(selector: Deno.KvListSelector, limit: number, reverse: boolean) =>
        late(() => store.list<T>(selector, limit, reverse)),
      watch: (keys) => store.watch(keys),
      commit: (checks, writes) => late(() => store.commit(checks, writes)),
    };
  }

  /** Nothing of the process reaches the store any more. */
  async over(): Promise<void> {
    await Promise.all(this.#late);
    this.#end();
  }
}

/** One exclusive process, checked step by step. */
class Process {
  readonly #steps: Promise<void>[] = [];

  constructor(
    private readonly journal: Journal,
    private readonly life: Life,
    private readonly model: Model,
  ) {}

  async run(steps: Phase["steps"]): Promise<void> {
    for (const { what, afterMs } of steps) {
      if (this.life.isOver) return;
      if (afterMs !== null) {
        await Promise.race([Promise.all(this.#steps), this.life.died]);
        if (afterMs > 0) await delay(afterMs);
      }
      this.#steps.push(this.#step(what));
    }
    await Promise.race([Promise.all(this.#steps), this.life.died]);
  }

  /** What a process that was killed had under way has ended. */
  async over(): Promise<void> {
    await this.journal.close();
    await Promise.all(this.#steps);
  }

  async #step(what: What): Promise<void> {
    try {
      if (what.kind === "commit") await this.#commit(what);
      else if (what.kind === "read") await this.#read(what.keys);
      else await this.#list(what);
    } catch (error) {
      if (error instanceof assert.AssertionError || !this.life.isOver) throw error;
    }
  }

  async #commit(step: CommitStep): Promise<void> {
    const { model } = this;
    const id = ++model.ids;
    const writes = writesOf(id, step);
    const seen = step.checks.map((key) => ({ key, stamp: model.stamps.get(orderedName(key)) }))
      .filter(({ stamp }) => stamp !== undefined);
    const checks = seen.map(({ key, stamp }): RowCheck => ({
      key,
      versionstamp: stamp!.versionstamp,
    }));
    /** Whether each row was of the same commit as when it was read. */
    const holds = (state: State) =>
      seen.every(({ key, stamp }) => {
        const row = state.get(orderedName(key));
        return (row?.id ?? null) === stamp!.id || row !== undefined && model.isOver(row);
      });
    const from = model.states.length - 1;
    model.open.set(id, { writes, nowMs: model.nowMs });
    let versionstamp: string | null;
    try {
      versionstamp = await this.journal.commit(checks, writes);
    } catch (error) {
      if (this.life.isOver) return; // whether it was stored the next process tells
      model.open.delete(id);
      model.refused.add(id);
      // Nothing but that the journal is full for long: the store fails all the time.
      assert.equal((error as { code?: string }).code, "unavailable", (error as Error).stack);
      return;
    }
    if (versionstamp !== null) {
      assert.ok(holds(model.state), "a commit was made though its check did not hold");
      model.apply(id);
      return;
    }
    model.open.delete(id);
    model.refused.add(id);
    const isOutdated = model.states.slice(from).some((state) => !holds(state)) ||
      [...model.open.values()].some(({ writes }) =>
        writes.some(({ key }) => seen.some((one) => orderedName(one.key) === orderedName(key)))
      );
    if (isOutdated) return;
    // A row that was saved after it was read has another versionstamp than in the journal.
    const mayHaveMoved = ({ key, stamp }: typeof seen[number]) =>
      stamp!.versionstamp?.startsWith("f") ||
      model.states.some((state) => {
        const row = state.get(orderedName(key));
        return row !== undefined && model.isOver(row);
      });
    assert.ok(seen.some(mayHaveMoved), "a commit was refused though its checks held");
  }

  /** That rows are those of one moment between two. */
  async #isOfOneMoment(
    from: number,
    rows: readonly MaybeRow<unknown>[],
    expected: (state: State) => readonly (ModelRow | undefined)[][],
  ): Promise<void> {
    await delay(0); // who is answered at the same time is heard
    const found = rows.map(({ key, value, versionstamp }) =>
      versionstamp === null ? undefined : `${orderedName(key)} ${idOf(value)}`
    );
    const nameOf = (row: ModelRow | undefined) =>
      row === undefined ? undefined : `${orderedName(row.key)} ${row.id}`;
    const isSame = (wanted: readonly (ModelRow | undefined)[]) =>
      wanted.length === found.length && wanted.every((row, i) => nameOf(row) === found[i]);
    if (this.model.states.slice(from).some((state) => expected(state).some(isSame))) return;
    if (this.life.isOver) return; // its commits are not known yet
    const wanted = this.model.states.slice(from).map((state) => expected(state)[0]!.map(nameOf));
    assert.fail(`${Deno.inspect(found)} is of no moment among ${Deno.inspect(wanted)}`);
  }

  async #read(keys: readonly Deno.KvKey[]): Promise<void> {
    const from = this.model.states.length - 1;
    const rows = keys.length === 1
      ? [await this.journal.get<unknown>(keys[0]!)]
      : await this.journal.getMany<unknown>(keys);
    assert.deepEqual(rows.map(({ key }) => key), keys);
    await this.#isOfOneMoment(from, rows, (state) => [
      keys.map((key) => state.get(orderedName(key))),
      keys.map((key, i) => {
        const row = state.get(orderedName(key));
        const isGone = row !== undefined && rows[i]!.versionstamp === null &&
          this.model.isOver(row);
        return isGone ? undefined : row;
      }),
    ]);
    for (const { key, value, versionstamp } of rows) {
      const id = versionstamp === null ? null : idOf(value);
      this.model.stamps.set(orderedName(key), { versionstamp, id });
    }
  }

  async #list({ selector, limit, reverse }: Extract<What, { kind: "list" }>): Promise<void> {
    const from = this.model.states.length - 1;
    const rows = await this.journal.list<unknown>(selector, limit, reverse);
    const { from: first, to } = rangeOf(selector);
    const listed = new Set(rows.map(({ key }) => orderedName(key)));
    const ordered = (state: State, isKept: (name: string, row: ModelRow) => boolean) => {
      const names = [...state.keys()].filter((name) =>
        name >= first && name < to && isKept(name, state.get(name)!)
      ).sort();
      if (reverse) names.reverse();
      return names.slice(0, limit).map((name) => state.get(name));
    };
    await this.#isOfOneMoment(from, rows, (state) => [
      ordered(state, () => true),
      ordered(state, (name, row) => listed.has(name) || !this.model.isOver(row)),
    ]);
  }

  /** The whole store, as the model has it. */
  async check(): Promise<void> {
    await checkAll(this.model, (selector) => this.journal.list(selector, 100_000, false));
    const sum = await this.journal.get<Deno.KvU64>(["sum"]);
    assert.equal(sum.value?.value ?? 0n, this.model.sum);
  }
}

async function checkAll(
  model: Model,
  list: (selector: Deno.KvListSelector) => Promise<Deno.KvEntry<unknown>[]>,
): Promise<void> {
  const kinds = ["row", "s", "r", "done"];
  const found = new Map<string, number>();
  for (const kind of kinds) {
    for (const { key, value } of await list({ start: [kind], end: [kind + "\0"] })) {
      found.set(orderedName(key), idOf(value));
    }
  }
  for (const id of model.refused) {
    assert.ok(!found.has(orderedName(["done", id])), `${id} was refused, and has come`);
  }
  for (const [name, row] of model.state) {
    if (!found.has(name) && model.isOver(row)) continue;
    assert.equal(found.get(name), row.id, `${Deno.inspect(row.key)} is not of its last commit`);
    found.delete(name);
  }
  assert.deepEqual(found, new Map());
}

/** Which of the commits that a killed process left open are in the store. */
async function learnOpen(
  model: Model,
  get: (key: Deno.KvKey) => Promise<MaybeRow<unknown>>,
): Promise<void> {
  for (const id of [...model.open.keys()]) {
    if ((await get(["done", id])).versionstamp !== null) model.apply(id);
    else {
      model.open.delete(id);
      model.refused.add(id);
    }
  }
}

async function runExclusive(kv: Deno.Kv, model: Model, phase: Phase): Promise<void> {
  const life = new Life(kv, phase);
  let process: Process | undefined;
  try {
    const journal = await Journal.open(life.backend, {
      random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
      bounds: phase.bounds,
      now: () => model.nowMs,
    });
    process = new Process(journal, life, model);
    await learnOpen(model, (key) => journal.get(key));
    await process.check();
    model.stamps.clear();
    if (phase.hasFaults) Object.assign(life.kv.faults, FAULTS);
    await process.run(phase.steps);
    Object.assign(life.kv.faults, NO_FAULTS);
    if (!life.isOver) await process.check();
  } catch (error) {
    if (error instanceof assert.AssertionError || !life.isOver) throw error;
  }
  const isInPeace = !life.isOver && phase.killedAfter === null;
  if (!isInPeace) await life.over();
  await process?.over();
  await life.over();
  if (!isInPeace || phase.hasFaults) return;
  assert.deepEqual(await journalNumbers(kv), [], "it ended in order");
  await checkAll(model, (selector) => Array.fromAsync(kv.list(selector)));
}

/** Several processes start at the same time; one of them may be killed over it. */
async function runShared(kv: Deno.Kv, model: Model, phase: Phase): Promise<void> {
  const lives = [phase, { ...phase, killedAfter: null }, { ...phase, killedAfter: null }]
    .map((one, i) => new Life(kv, { ...one, seed: phase.seed + i }));
  await Promise.all(lives.map(async (life) => {
    if (phase.hasFaults) Object.assign(life.kv.faults, FAULTS, { lostAnswer: 0 });
    try {
      const capacity = { ...EMBEDDED_CAPACITY, mutations: 5, checks: 3 };
      await endJournal(life.backend, capacity, model.nowMs);
    } catch (error) {
      assert.ok(life.isOver, (error as Error).stack);
      return;
    }
    assert.deepEqual(await journalNumbers(kv), [], "whoever may read finds no journal");
  }));
  await learnOpen(model, (key) => kv.get(key));
  await checkAll(model, (selector) => Array.fromAsync(kv.list(selector)));
}

const RUNS = isLong ? 60 : 8;

Deno.test("an exclusive store is what the acknowledged commits have made of it, at every moment, through faults, kills and openings", async () => {
  let left = 0;
  await fc.assert(
    fc.asyncProperty(phases, async (all) => {
      using kv = await Deno.openKv(":memory:");
      const model = new Model();
      for (const phase of [...all, { ...all[0]!, shared: false, killedAfter: null }]) {
        model.nowMs += phase.movedMs;
        model.latestMs = Math.max(model.latestMs, model.nowMs);
        await (phase.shared ? runShared : runExclusive)(kv, model, phase);
        left += (await journalNumbers(kv)).length;
      }
      await runShared(kv, model, { ...all[0]!, killedAfter: null, hasFaults: false });
    }),
    propertyRuns(RUNS, false),
  );
  assert.ok(left > 0, "rows were left to next starts");
  await delay(600); // retries that nobody waited for
});
