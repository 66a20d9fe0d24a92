import type { Tally } from "./tally.ts";

/** What a step found, and what it printed. */
export interface StepResult extends Tally {
  output: string;
  /** Places to look at; they fail nothing. */
  warnings?: readonly string[];
}

/** One step of the gate. */
export interface Step {
  name: string;
  run(): Promise<StepResult>;
}
