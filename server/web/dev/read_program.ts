/** The program of the worker that reads captured mail, without permissions: see captured_reader.ts. */
import { serveSteps } from "../../base/workers/serve_jobs.ts";
import { readInSteps } from "./read_mail.ts";

serveSteps(({ raw }: { raw: Uint8Array }) => readInSteps(raw));
