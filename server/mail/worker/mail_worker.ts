/**
 * Reads mail off the main thread: one worker or more, one job at a time each, so many seconds a job. A
 * message that takes longer, or ends the worker, is given as far as it was read; the next one has a
 * worker of its own (docs/adr/0038). Owners of jobs take turns (docs/adr/0046).
 */
import { RelayError } from "../../base/errors.ts";
import type { DsnRecipient } from "../reading/reports/dsn.ts";
import type { DraftPreview } from "../composing/reducing/preview_draft.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import type {
  ReadOutcome,
  ReadRequest,
  SendBodyKind,
} from "../composing/requests/read_send_body.ts";
import type { ReadingContext } from "../composing/requests/read_send.ts";
import type { OwnPicture } from "../composing/reducing/reduced_addresses.ts";
import type { ReducedHtml } from "../composing/reducing/reduce_html.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { encodeTexts } from "../reading/parsed/encoded_texts.ts";
import { FairQueue, type FairQueueBounds, type QueuedJob } from "./fair_queue.ts";
import { type JobTimeBounds, JobTimes } from "./job_times.ts";
import type { MailJobKind, MailJobs } from "./mail_jobs.ts";
import type { ParseContext } from "../reading/parsed/parsed_mail.ts";
import { applyPatch, emptyParsedMail } from "../reading/parsed/parsed_patch.ts";
import type { ListedAttachment, ReadAttachment } from "../reading/mime/read_attachment.ts";
import type { ReadMailResult } from "../reading/read_mail.ts";
import type { WalkLimits } from "../reading/mime/walk_parts.ts";
import {
  type JobEnd,
  JobRunner,
  type JobRunnerBounds,
  type JobRunnerServices,
  type RunnerJob,
} from "./job_runner.ts";

export interface MailWorkerOptions extends Pick<JobRunnerServices, "start" | "onLoss"> {
  /** How many jobs are done at once, each in a worker of its own; one unless given. */
  workers?: number;
  bounds?: Partial<MailWorkerBounds>;
  after?: JobRunnerServices["after"];
  now?: () => number;
}

export type MailWorkerBounds = FairQueueBounds & JobTimeBounds & JobRunnerBounds;

const MIB = 1024 * 1024;

const BOUNDS: MailWorkerBounds = {
  jobMs: 5_000,
  shortJobMs: 1_000,
  shortForMs: 10 * MINUTE_MS,
  startMs: 10_000,
  jobs: 512,
  bytes: 128 * MIB,
  ownerJobs: 128,
  ownerBytes: 64 * MIB,
  starts: 3,
  idleMs: 60_000,
};

/** A job and who waits for it. */
interface WaitingJob extends RunnerJob, QueuedJob {
  end: (end: JobEnd) => void;
}

export class MailWorker {
  readonly #queue: FairQueue<WaitingJob>;
  readonly #times: JobTimes;
  readonly #runners: readonly JobRunner[];
  #isClosed = false;

  constructor({ start, onLoss, workers = 1, ...options }: MailWorkerOptions) {
    const bounds = { ...BOUNDS, ...options.bounds };
    const { after = startTimer, now = () => performance.now() } = options;
    this.#queue = new FairQueue(bounds);
    this.#times = new JobTimes(bounds, now);
    this.#runners = Array.from(
      // Without workers two jobs at once would have the main thread in slices twice as long.
      { length: start === null ? 1 : workers },
      () => new JobRunner({ start, onLoss, after, now }, bounds),
    );
  }

  /**
   * What a message says; as far as it was read, with `timed_out` or `parser_failed`, where reading it
   * took too long or failed. The texts are encoded as they are kept, in the worker.
   * @param raw not changed, and not to be changed until the promise settles
   * @param owner whose turn it takes: the org that it goes to
   * @throws RelayError `unavailable` when too much mail waits to be read
   */
  async read(raw: Uint8Array, context: ParseContext, owner: string): Promise<ReadMailResult> {
    const mail = emptyParsedMail();
    const end = await this.#run("read", raw, context, owner, (step) => applyPatch(mail, step));
    if (end.type === "closed") throw closing();
    if (end.type === "result") return end.result as ReadMailResult;
    applyPatch(mail, { warnings: [end.type === "timed_out" ? "timed_out" : "parser_failed"] });
    return { facts: mail.facts, ...encodeTexts(mail.texts) };
  }

  /**
   * An attachment of a message, decoded; null where it has no such one.
   * @param limits that the message was parsed with
   * @throws RelayError `unavailable` when too much mail waits to be read, or it took too long
   * @throws Error when reading it failed
   */
  async readAttachment(
    raw: Uint8Array,
    wanted: ListedAttachment,
    limits: WalkLimits,
    owner: string,
  ): Promise<ReadAttachment | null> {
    const end = await this.#run("attachment", raw, { wanted, limits }, owner, () => {});
    if (end.type === "closed") throw closing();
    if (end.type === "timed_out") {
      throw unavailable("the attachment could not be read in time: try again later");
    }
    if (end.type === "failed") throw new Error("an attachment could not be read");
    return end.result as ReadAttachment | null;
  }

  /**
   * The attachments of a message that its record lists, by their SHA-256 in hex; null for what it has not.
   * @param limits that the message was parsed with
   * @throws RelayError `unavailable` when too much mail waits to be read, or it took too long
   * @throws Error when reading them failed
   */
  async readAttachments(
    raw: Uint8Array,
    listed: readonly string[],
    limits: WalkLimits,
    owner: string,
  ): Promise<(ReadAttachment | null)[]> {
    const end = await this.#run("attachments", raw, { listed, limits }, owner, () => {});
    return resultOf(end, "the attachments") as (ReadAttachment | null)[];
  }

  /**
   * What mail to a bounce address reports; null for what cannot be applied, which is also what took too
   * long or failed to be read.
   * @param raw its beginning
   * @throws RelayError `unavailable` when too much mail waits to be read
   */
  async readReport(
    raw: Uint8Array,
    envelopeFrom: string,
    owner: string,
  ): Promise<DsnRecipient[] | null> {
    const end = await this.#run("report", raw, { envelopeFrom }, owner, () => {});
    if (end.type === "closed") throw closing();
    return end.type === "result" ? end.result as DsnRecipient[] | null : null;
  }

  /**
   * What the body of a request to send asks for.
   * @param wantsFingerprint whether the request has an Idempotency-Key
   * @throws RelayError `invalid_json`, `invalid_email`, `payload_too_large`; `unavailable` when too much
   * waits, or it took too long
   * @throws Error when reading it failed
   */
  async readRequest<K extends SendBodyKind>(
    kind: K,
    body: Uint8Array,
    context: ReadingContext,
    wantsFingerprint: boolean,
    owner: string,
  ): Promise<ReadRequest<K>> {
    const end = await this.#run(
      "request",
      body,
      { kind, context, wantsFingerprint },
      owner,
      () => {},
    );
    const outcome = resultOf(end, "the request") as ReadOutcome<K>;
    if (!("refused" in outcome)) return outcome;
    throw new RelayError(outcome.refused.code, outcome.refused.message);
  }

  /**
   * A message as it is sent.
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when composing it failed
   */
  async compose(mail: MailToCompose, owner: string): Promise<Uint8Array<ArrayBuffer>> {
    const sizeBytes = (mail.text?.length ?? 0) + (mail.html?.length ?? 0) +
      mail.attachments.reduce((sum, { content }) => sum + content.length, 0);
    const end = await this.#run("compose", new Uint8Array(), mail, owner, () => {}, sizeBytes);
    return resultOf(end, "the message") as Uint8Array<ArrayBuffer>;
  }

  /**
   * The texts of a draft, made ready for its page.
   * @param section their bytes
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when it failed
   */
  async preview(section: Uint8Array, owner: string): Promise<DraftPreview> {
    return resultOf(
      await this.#run("preview", section, null, owner, () => {}),
      "the draft",
    ) as DraftPreview;
  }

  /**
   * An HTML as it goes out where a person has to approve it.
   * @param pictures of the message, which it may name
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when it failed
   */
  async reduce(
    html: string,
    pictures: readonly OwnPicture[],
    owner: string,
  ): Promise<ReducedHtml> {
    const given = { html, pictures };
    const end = await this.#run("reduce", new Uint8Array(), given, owner, () => {}, html.length);
    return resultOf(end, "the html") as ReducedHtml;
  }

  /** Ends the workers. Jobs that wait, and those still to come, are refused. */
  close(): void {
    this.#isClosed = true;
    for (const runner of this.#runners) runner.close();
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take()) {
      job.end({ type: "closed" });
    }
  }

  #run<K extends MailJobKind>(
    kind: K,
    raw: Uint8Array,
    input: MailJobs[K]["input"],
    owner: string,
    onStep: (step: MailJobs[K]["step"]) => void,
    sizeBytes = raw.length,
  ): Promise<JobEnd> {
    const { promise, resolve } = Promise.withResolvers<JobEnd>();
    if (this.#isClosed) throw closing();
    const job: WaitingJob = {
      kind,
      raw,
      input,
      onStep: onStep as (step: never) => void,
      owner,
      sizeBytes,
      end: resolve,
    };
    if (!this.#queue.add(job)) throw unavailable("too much mail is being read: try again later");
    this.#next();
    return promise;
  }

  /** Begins the next job, unless all workers have one: with one that runs, before another is started. */
  #next(): void {
    if (this.#isClosed || this.#queue.isEmpty) return;
    const free = this.#runners.filter(({ isFree }) => isFree);
    const runner = free.find(({ isStarted }) => isStarted) ?? free[0];
    if (runner === undefined) return;
    const job = this.#queue.take()!;
    runner.run(job, this.#times.of(job.owner), (end) => {
      this.#queue.giveBack(job);
      if (end.type === "timed_out") this.#times.tookTooLong(job.owner);
      job.end(end);
      this.#next();
    });
  }
}

/** @param what names the job's subject */
function resultOf(end: JobEnd, what: string): unknown {
  if (end.type === "result") return end.result;
  if (end.type === "closed") throw closing();
  if (end.type === "failed") throw new Error(`${what} could not be made ready`);
  throw unavailable(`${what} took too long to be made ready: try again later`);
}

function closing(): RelayError {
  return unavailable("the relay is stopping: try again later");
}

function unavailable(message: string): RelayError {
  return new RelayError("unavailable", message, { retryAfterMs: 5_000 });
}

function startTimer(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
