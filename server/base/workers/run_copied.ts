import { failedBy, type JobEnd, type JobOptions, type WorkerThread } from "./worker_thread.ts";

/** Bytes copied in one slice. */
const COPIED_BYTES = 2 * 1024 * 1024;

/**
 * Runs a job in a worker over a copy of its bytes, which moves there: the caller keeps its own, and
 * a view may have a larger buffer. Large ones are copied in slices, since fresh memory takes time to
 * get. Never rejects.
 */
export async function runCopied<Job extends { raw: Uint8Array }, Result, Word, Answer>(
  worker: WorkerThread<Job, Result, Word, Answer>,
  job: Job,
  options: JobOptions<Word, Answer>,
): Promise<JobEnd<Result>> {
  try {
    const raw = new Uint8Array(job.raw.length);
    for (let at = 0; at < raw.length; at += COPIED_BYTES) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve));
      raw.set(job.raw.subarray(at, at + COPIED_BYTES), at);
    }
    return await worker.run({ ...job, raw }, { ...options, transfer: [raw.buffer] });
  } catch (error) {
    return failedBy(error); // for want of memory
  }
}
