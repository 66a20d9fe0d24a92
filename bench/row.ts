/** A measured claim: a pair of rates measured in turns, so that a noisy machine disturbs both. */

export interface Row {
  /** Name for --only and for the results. */
  id: string;
  title: string;
  /** Unit of both figures, as in "sends/s". */
  unit: string;
  /** The promised ratio of ours to reference. */
  target: { rule: "at least" | "at most"; ratio: number };
  /** Rounds, when fewer or more than usual are worth their time. */
  rounds?: number;
  /** False when nothing has to warm up: every round is counted. */
  warmUp?: false;
  /** Starts what both sides need. */
  prepare(context: Context): Promise<Pair>;
}

/** Both sides of a row, ready to run again and again. */
export interface Pair {
  /** One round of ours, in units of the row; higher is faster. */
  ours(): Promise<number>;
  /** One round of what it is compared with. */
  reference(): Promise<number>;
  /** What a reader should know of this run, such as counts. */
  note?(): string;
  close(): Promise<void>;
}

export interface Context {
  /** Random numbers of this run's seed. */
  random: () => number;
  /** An empty folder that is removed after the row. */
  temporaryFolder: string;
  /** A folder that is kept between runs: for stores that take long to fill. */
  keptFolder: string;
  /** One line of progress. */
  progress(text: string): void;
}
