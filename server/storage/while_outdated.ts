import { Outdated } from "./job.ts";

/**
 * Reads and commits again for as long as the commit finds that what was read before it is outdated.
 * @param attempt reads, and submits a job whose plan throws Outdated
 * @throws whatever else an attempt throws
 */
export async function whileOutdated<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}
