/** How busy other programs kept the machine meanwhile: only quiet measurements are claims. */

/** Linux counts in hundredths of a second here, whatever the kernel's own clock. */
const TICKS_A_SECOND = 100;
/** The parent of the kernel's own threads, which also write what the benchmark stores. */
const KERNEL_THREADS = 2;

/** What others may take of one core while figures are measured that are claims. */
export const QUIET_CORES = 0.1;

/** Seconds of CPU so far. */
export interface MachineLoad {
  atSeconds: number;
  /** All that ran, without interrupts, which serve the benchmark's own connections. */
  busy: number;
  /** This process with all that it has started, ended or not, and the kernel's threads. */
  ours: number;
}

/** @returns null where the system has no /proc */
export function readMachineLoad(): MachineLoad | null {
  if (Deno.build.os !== "linux") return null;
  const [name, ...times] = Deno.readTextFileSync("/proc/stat").split("\n", 1)[0]!.split(/ +/);
  if (name !== "cpu") throw new Error("/proc/stat does not begin with the time of all cores");
  // user, nice, system, idle, iowait, irq, softirq, steal
  const busy = [0, 1, 2, 7].reduce((sum, i) => sum + Number(times[i] ?? 0), 0);
  const stats = Array.from(Deno.readDirSync("/proc"))
    .filter(({ name }) => /^\d+$/.test(name))
    .flatMap(({ name }) => {
      try {
        return [Deno.readTextFileSync(`/proc/${name}/stat`)];
      } catch {
        return []; // it ended while they were listed
      }
    });
  return {
    atSeconds: performance.now() / 1_000,
    busy: busy / TICKS_A_SECOND,
    ours: ticksOf(stats, Deno.pid) / TICKS_A_SECOND,
  };
}

/**
 * Ticks of a process and its descendants, of those that have ended too, and of the kernel's threads.
 * @param stats each the text of a process's /proc/PID/stat
 */
export function ticksOf(stats: readonly string[], root: number): number {
  const processes = stats.map((text) => {
    // The name before the last bracket may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, part) => sum + part, 0);
    return { pid: parseInt(text), parent: fields[1]!, ticks };
  });
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isOurs = (pid: number | undefined): boolean =>
    pid === root || pid === KERNEL_THREADS || (pid !== undefined && isOurs(parents.get(pid)));
  return processes.reduce((sum, { pid, ticks }) => isOurs(pid) ? sum + ticks : sum, 0);
}

/** @returns how many cores others kept busy between two readings; undefined unless both were taken */
export function othersCores(
  before: MachineLoad | null,
  after: MachineLoad | null,
): number | undefined {
  if (before === null || after === null) return undefined;
  const others = (after.busy - before.busy) - (after.ours - before.ours);
  // The two are counted apart, so that a quiet machine may come to less than nothing.
  return Math.max(0, others / (after.atSeconds - before.atSeconds));
}
