/** A mail worker whose workers answer when the test says so. */
import { encodeTexts } from "../../server/mail/reading/parsed/encoded_texts.ts";
import type { PostedJob } from "../../server/mail/worker/mail_jobs.ts";
import { MailWorker, type MailWorkerOptions } from "../../server/mail/worker/mail_worker.ts";
import type { ParsedFacts } from "../../server/mail/reading/parsed/parsed_mail.ts";
import { emptyParsedMail } from "../../server/mail/reading/parsed/parsed_patch.ts";
import type { ReadMailResult } from "../../server/mail/reading/read_mail.ts";
import type {
  MailWorkerEvents,
  StartMailWorker,
} from "../../server/mail/worker/start_mail_worker.ts";

/** Workers that answer when the test says so, and timers by hand. */
export function heldWorker(options: Partial<MailWorkerOptions> = {}) {
  const workers: { events: MailWorkerEvents; jobs: PostedJob[]; isTerminated: boolean }[] = [];
  const timers: { delayMs: number; callback: () => void }[] = [];
  const losses: unknown[] = [];
  const start: StartMailWorker = (events) => {
    const made = { events, jobs: [] as PostedJob[], isTerminated: false };
    workers.push(made);
    return {
      post: (job) => void made.jobs.push(job),
      terminate: () => void (made.isTerminated = true),
    };
  };
  const worker = new MailWorker({
    start,
    onLoss: (failure) => losses.push(failure),
    after: (delayMs, callback) => {
      const timer = { delayMs, callback };
      timers.push(timer);
      return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
    },
    ...options,
  });
  const ready = (at = 0) => workers[at]!.events.message({ type: "ready" });
  const ended = (at = 0, subject = "read") => {
    workers[at]!.events.message({ type: "result", result: result({ subject }) });
  };
  return { worker, workers, timers, losses, ready, ended };
}

/** What the worker gives of a mail without texts. */
export function result(facts: Partial<ParsedFacts>): ReadMailResult {
  const empty = emptyParsedMail();
  return { facts: { ...empty.facts, ...facts }, ...encodeTexts(empty.texts) };
}
