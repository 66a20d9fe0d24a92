/** How far the benchmark has come, and when it will end. */

/**
 * Seconds that parts will take: each what it took last, an unknown one the mean of the known ones.
 * @returns undefined while none is known
 */
export function expectedSeconds(
  left: readonly string[],
  known: ReadonlyMap<string, number>,
): number | undefined {
  if (known.size === 0) return undefined;
  const mean = [...known.values()].reduce((sum, seconds) => sum + seconds, 0) / known.size;
  return left.reduce((sum, id) => sum + (known.get(id) ?? mean), 0);
}

export interface Progress {
  run: number;
  runs: number;
  part: number;
  parts: number;
  passedMs: number;
  nowMs: number;
  leftSeconds: number | undefined;
}

export function progressText(
  { run, runs, part, parts, passedMs, nowMs, leftSeconds }: Progress,
): string {
  const minutes = (passedMs / 60_000).toFixed(1);
  return [
    ...(runs > 1 ? [`run ${run}/${runs}`] : []),
    `${part}/${parts}`,
    `${minutes} min`,
    ...(leftSeconds === undefined ? [] : [`end about ${clock(nowMs + leftSeconds * 1_000)}`]),
  ].join(", ");
}

/** Hours and minutes of the local clock. */
function clock(ms: number): string {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}
