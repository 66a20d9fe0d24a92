import type { Step, StepResult } from "./step.ts";
import { addTallies, emptyTally, type Tally } from "./tally.ts";

/**
 * Runs steps one after another, early ones from the start on, all of them whatever fails, and shows
 * each as it ends. Of a failed step everything that it printed is shown. A step that throws counts as
 * one failure.
 * @param steps in running order
 * @param print writes text as it is
 * @param nowMs a clock that only goes forward
 * @returns the sum over all steps
 */
export async function runSteps(
  steps: readonly Step[],
  print: (text: string) => void,
  nowMs: () => number,
): Promise<Tally> {
  const timed = async (step: Step) => {
    const startMs = nowMs();
    const result = await runStep(step);
    return { result, seconds: ((nowMs() - startMs) / 1000).toFixed(1) };
  };
  const early = new Map(steps.filter(({ isEarly }) => isEarly).map((step) => [step, timed(step)]));
  let total: Tally = emptyTally;
  for (const step of steps) {
    print(`${step.name} ... `);
    const { result, seconds } = await (early.get(step) ?? timed(step));
    print(`${result.failed === 0 ? "ok" : "failed"} (${counts(result)}, ${seconds} s)\n`);
    if (result.failed > 0) print(`${result.output.trimEnd()}\n`);
    for (const place of result.warnings ?? []) print(`  warning: ${place}\n`);
    for (const name of result.skipped) print(`  skipped: ${name}\n`);
    total = addTallies(total, result);
  }
  return total;
}

async function runStep(step: Step): Promise<StepResult> {
  try {
    return await step.run();
  } catch (error) {
    const output = error instanceof Error ? error.stack ?? error.message : String(error);
    return { ...emptyTally, failed: 1, output };
  }
}

function counts({ passed, failed, skipped }: Tally): string {
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`);
  return parts.join(", ");
}
