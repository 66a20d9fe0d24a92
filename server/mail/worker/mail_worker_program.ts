/**
 * The program of the mail worker. It runs without permissions; the relay may read the modules that it
 * imports (docs/adr/0027).
 */
import { serveSteps } from "../../base/workers/serve_jobs.ts";
import { MAIL_JOBS, stepsOf } from "./mail_jobs.ts";

serveSteps(stepsOf, (result, { kind }) => MAIL_JOBS[kind].buffersOf(result as never));
