/** The program of the blob writer's worker: a batch of files at a time. It may reach the blobs alone. */
import { serveJobs } from "../workers/serve_jobs.ts";
import { type FileToWrite, writeFiles } from "./write_files.ts";

serveJobs<FileToWrite[], boolean[]>({
  run: async (files) => (await writeFiles(files)).map((failure) => failure === null),
});
