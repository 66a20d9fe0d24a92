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
  /** It begins with the first step, and runs beside those before it; shown in its turn all the same. */
  isEarly?: boolean;
  run(): Promise<StepResult>;
}
