/** The program of the index's workers. */
import { serveJobs } from "../../base/workers/serve_jobs.ts";
import { doJob, type IndexJob } from "./index_jobs.ts";

serveJobs<IndexJob, unknown>({ run: doJob });
