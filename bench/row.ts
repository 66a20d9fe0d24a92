/** A measured claim: a pair of rates measured in turns, so that a noisy machine disturbs both. */
import type { ThreadCpu } from "./thread_cpu.ts";

/** How much the store of a relay holds. */
export interface StoreSize {
  agents: number;
  messages: number;
}

/** A promised ratio of ours to reference. */
export interface Target {
  rule: "at least" | "at most";
  ratio: number;
}

export interface Row {
  /** Name for --only and for the results. */
  id: string;
  title: string;
  /** Unit of both figures, as in "sends/s". */
  unit: string;
  /** None where the row only tells. */
  target?: Target;
  /** The CPU time that one request of ours may take in a thread of the relay, in microseconds. */
  cpuTargetUs?: Partial<ThreadCpu>;
  /** Rounds, when fewer or more than usual are worth their time: the row says why. */
  rounds?: number;
  /** False when nothing has to warm up: every round is counted. */
  warmUp?: false;
  /** True for what takes minutes: --quick leaves it out. */
  slow?: boolean;
  /** Kept stores that it uses: they are written before the first row. */
  stores?: readonly StoreSize[];
  /**
   * Starts what both sides need.
   * @throws NotMeasured where this machine lacks a part
   */
  prepare(context: Context): Promise<Pair>;
}

/** Both sides of a row, ready to run again and again. */
export interface Pair {
  /** One round of ours; for a bare number nothing else is known. */
  ours(): Promise<Round | number>;
  /** One round of what it is compared with. */
  reference(): Promise<Round | number>;
  /** What a reader should know of this run, such as counts. */
  note?(): string;
  close(): Promise<void>;
}

/** What one round of one side came to. */
export interface Round {
  /** In the unit of the row. */
  value: number;
  /** Milliseconds from a request, or what the row names, to its answer: half and 99 of 100 took no longer. */
  p50Ms?: number;
  p99Ms?: number;
  /** Microseconds of CPU a request, by thread of the server. */
  cpuUs?: ThreadCpu;
  /** How much of one core the load generator took; near 1 it is what was measured. */
  generatorShare?: number;
}

export interface Context {
  /** Random numbers of this run's seed. */
  random: () => number;
  /** An empty folder that is removed after the row. */
  temporaryFolder: string;
  /** A folder that is kept between runs: for stores that take long to fill, and for peers. */
  keptFolder: string;
  /** A number of requests, fewer with --quick. */
  count(usual: number): number;
  /** Whether peers may be installed, which takes minutes. */
  installs: boolean;
  /** Whether a steady state is reached by waiting for it. */
  steady: boolean;
  /** One line of progress. */
  progress(text: string): void;
}

/** A row that cannot be measured here, and why. */
export class NotMeasured extends Error {}
