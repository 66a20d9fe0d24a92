/** A mail worker whose workers answer on the test's order. */
import { encodeTexts } from "../../server/mail/reading/parsed/encoded_texts.ts";
import type { PostedJob } from "../../server/mail/worker/mail_jobs.ts";
import { MailWorker, type MailWorkerOptions } from "../../server/mail/worker/mail_worker.ts";
import type { ParsedFacts } from "../../server/mail/reading/parsed/parsed_mail.ts";
import {
  emptyParsedMail,
  type ParsedPatch,
} from "../../server/mail/reading/parsed/parsed_patch.ts";
import type { ReadMailResult } from "../../server/mail/reading/read_mail.ts";
import { heldWorkers } from "./held_workers.ts";

export function heldMailWorker(options: Partial<MailWorkerOptions> = {}) {
  const held = heldWorkers<PostedJob, unknown, ParsedPatch>();
  return { ...held, worker: new MailWorker({ ...held.services, ...options }) };
}

/** What the worker gives of a mail without texts. */
export function result(facts: Partial<ParsedFacts>): ReadMailResult {
  const empty = emptyParsedMail();
  return { facts: { ...empty.facts, ...facts }, ...encodeTexts(empty.texts) };
}
