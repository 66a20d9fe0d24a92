/** Measures one row: rounds of both sides in turns, and the median of their ratios. */
import { figure, notMeasured, type Result, resultOf } from "./result.ts";
import { type Context, NotMeasured, type Round, type Row } from "./row.ts";

const DEFAULT_ROUNDS = 5;

export interface RowOptions {
  /** Rounds, whatever the row says. */
  rounds?: number;
  context: Context;
}

/** @returns the row without figures where this machine lacks a part of it */
export async function measureRow(row: Row, { rounds, context }: RowOptions): Promise<Result> {
  const { progress } = context;
  let pair;
  try {
    pair = await row.prepare(context);
  } catch (error) {
    if (!(error instanceof NotMeasured)) throw error;
    progress(`not measured: ${error.message}`);
    return notMeasured(row, error.message);
  }
  const wanted = rounds ?? row.rounds ?? DEFAULT_ROUNDS;
  const ours: Round[] = [];
  const reference: Round[] = [];
  const runOurs = async () => asRound(await pair.ours());
  const runReference = async () => asRound(await pair.reference());
  try {
    if (row.warmUp !== false) { // a first round of each warms caches and compilers, uncounted
      await runOurs();
      await runReference();
    }
    for (let round = 1; round <= wanted; round++) {
      // Every other round begins with the other side, so that neither always goes first.
      if (round % 2 === 1) ours.push(await runOurs());
      reference.push(await runReference());
      if (round % 2 === 0) ours.push(await runOurs());
      const [mine, other] = [ours.at(-1)!, reference.at(-1)!];
      progress(
        `round ${round}/${wanted}: ${figure(mine.value)} against ${figure(other.value)} ` +
          `${row.unit}, ratio ${(mine.value / other.value).toFixed(2)}${costs(mine)}`,
      );
    }
    return resultOf(row, ours, reference, pair.note?.());
  } finally {
    await pair.close();
  }
}

function asRound(round: Round | number): Round {
  return typeof round === "number" ? { value: round } : round;
}

function costs({ p50Ms, p99Ms, cpuUs }: Round): string {
  const times = p50Ms === undefined ? "" : `; p50 ${figure(p50Ms)} ms, p99 ${figure(p99Ms!)} ms`;
  if (cpuUs === undefined) return times;
  const { main, store, workers } = cpuUs;
  return `${times}; CPU ${Math.round(main)}/${Math.round(store)}/${Math.round(workers)} us`;
}
