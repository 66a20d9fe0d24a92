/** A mail worker whose workers answer when the test says so. */
import { encodeTexts } from "../../server/mail/parsing/encoded_texts.ts";
import type { PostedJob } from "../../server/mail/parsing/mail_jobs.ts";
import { MailWorker, type MailWorkerOptions } from "../../server/mail/parsing/mail_worker.ts";
import type { ParsedFacts } from "../../server/mail/parsing/parsed_mail.ts";
import { emptyParsedMail, type ParsedPatch } from "../../server/mail/parsing/parsed_patch.ts";
import type { ReadMailResult } from "../../server/mail/parsing/read_mail.ts";
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
