/**
 * The program of the mail worker. It runs without permissions and goes last; the relay may read the modules that it
 * imports (docs/adr/0027).
 */
import { lowerPriority } from "../../base/workers/lower_priority.ts";
import { serveSteps } from "../../base/workers/serve_jobs.ts";
import { MAIL_JOBS, stepsOf } from "./mail_jobs.ts";

lowerPriority();
serveSteps(stepsOf, (result, { kind }) => MAIL_JOBS[kind].buffersOf(result as never));
