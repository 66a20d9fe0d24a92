/** A worker's program that asks what a job means, and fails over the job "bad". */
import { serveJobs } from "../../server/base/workers/serve_jobs.ts";

const asked = Promise.withResolvers<string>();

serveJobs<string, Uint8Array<ArrayBuffer>, string, string>({
  async run(job, tell) {
    if (job === "bad") throw new RangeError(`secret of ${job}`);
    tell(`what is ${job}?`);
    return new TextEncoder().encode(await asked.promise);
  },
  buffersOf: (result) => [result.buffer],
  onWord: (answer) => asked.resolve(answer),
});
