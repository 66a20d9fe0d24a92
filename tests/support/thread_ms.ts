/** The first number is time on a CPU in nanoseconds. */
const OF_THIS_THREAD = "/proc/thread-self/schedstat";

/**
 * Milliseconds that this thread has spent on a CPU, for differences: what else runs on the machine takes
 * none of them. Milliseconds of the clock where the system does not tell.
 */
export function threadMs(): number {
  if (Deno.build.os !== "linux") return performance.now();
  try {
    return Number(Deno.readTextFileSync(OF_THIS_THREAD).split(" ")[0]) / 1e6 || performance.now();
  } catch {
    return performance.now();
  }
}
