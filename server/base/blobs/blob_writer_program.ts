/** The program of the blob writer's worker: a batch of files at a time. It may reach the blobs alone. */
import { serveJobs } from "../workers/serve_jobs.ts";
import { type FilesOfFolder, writeBatch, type WriteFailure } from "./write_batch.ts";

serveJobs<FilesOfFolder, (WriteFailure | null)[]>({
  run: ({ folder, files }) => writeBatch(folder, files),
});
