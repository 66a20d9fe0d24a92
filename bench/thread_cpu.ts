/** CPU time of a server by its threads, as Linux accounts it. */

/** Microseconds of CPU. */
export interface ThreadCpu {
  /** The thread that runs JavaScript. */
  main: number;
  /** The threads in which Deno KV drives its file. */
  store: number;
  /** All others: garbage collection, compilation, WebCrypto, file and name look-ups. */
  workers: number;
}

/** Deno KV names them sw-0, sw-1, ... */
const STORE_THREAD = /^sw-\d+$/;

/**
 * CPU time so far of a process's threads; those that have ended are not among them.
 * @returns null where the system has no /proc, or the process has ended
 */
export function readThreadCpu(pid: number): ThreadCpu | null {
  const cpu = { main: 0, store: 0, workers: 0 };
  try {
    for (const { name: thread } of Deno.readDirSync(`/proc/${pid}/task`)) {
      const tookUs = readOne(`/proc/${pid}/task/${thread}`);
      if (tookUs === null) continue; // it ended while they were listed
      if (thread === String(pid)) cpu.main += tookUs.us;
      else if (STORE_THREAD.test(tookUs.name)) cpu.store += tookUs.us;
      else cpu.workers += tookUs.us;
    }
    return cpu;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function readOne(folder: string): { name: string; us: number } | null {
  try {
    const name = Deno.readTextFileSync(`${folder}/comm`).trim();
    // The first number of schedstat is time on a CPU in nanoseconds; stat counts in hundredths of a second.
    const [onCpuNs] = Deno.readTextFileSync(`${folder}/schedstat`).split(" ");
    return { name, us: Number(onCpuNs) / 1_000 };
  } catch {
    return null;
  }
}

/** CPU time a request between two readings; undefined unless both could be taken. */
export function cpuPerRequest(
  before: ThreadCpu | null,
  after: ThreadCpu | null,
  requests: number,
): ThreadCpu | undefined {
  if (before === null || after === null) return undefined;
  const each = (thread: keyof ThreadCpu) => (after[thread] - before[thread]) / requests;
  return { main: each("main"), store: each("store"), workers: each("workers") };
}
