/** What a step of the gate found. */
export interface Tally {
  passed: number;
  failed: number;
  /** Names of tests that did not run because a part of the machine is missing. */
  skipped: string[];
}

/** A tally of nothing. */
export const emptyTally: Readonly<Tally> = { passed: 0, failed: 0, skipped: [] };

/** A tally of one check without tests of its own, which counts as one. */
export function tallyOfCheck(passed: boolean): Tally {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [] };
}

/** The sum of two tallies. */
export function addTallies(a: Tally, b: Tally): Tally {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: [...a.skipped, ...b.skipped],
  };
}

/** The last line of the gate, on which other programs may rely. */
export function finalLine({ passed, failed }: Tally): string {
  return `${passed} passed, ${failed} failed`;
}
