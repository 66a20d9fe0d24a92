/**
 * Reads mail off the main thread: one worker, one job at a time, so many seconds each. A message that
 * takes longer, or ends the worker, is given as far as it was read; the next one has a worker of its
 * own (docs/adr/0038).
 *
 * Over 300 lines: one worker, and the line of jobs before it, change together.
 */
import { RelayError } from "../../errors.ts";
import type { DsnRecipient } from "../delivery/dsn.ts";
import type { DraftPreview } from "../drafts/preview.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import type { OutgoingKind, ReadOutcome } from "../sending/read_outgoing.ts";
import type { ReadingContext } from "../sending/read_send.ts";
import type { MailJobKind, MailJobs, WorkerMessage } from "./mail_jobs.ts";
import type { ParseContext } from "./parsed_mail.ts";
import { applyPatch, emptyParsedMail } from "./parsed_patch.ts";
import { encodeTexts } from "./encoded_texts.ts";
import type { ReadAttachment } from "./read_attachment.ts";
import type { ReadMailResult } from "./read_mail.ts";
import type { RunningMailWorker, StartMailWorker } from "./start_mail_worker.ts";
import type { WalkLimits } from "./walk_parts.ts";

export interface MailWorkerOptions {
  /** Null where the runtime has no workers: the main thread reads then. */
  start: StartMailWorker | null;
  /** Told when a worker could not be started, or died of something else than its time. */
  onLoss: (failure: unknown) => void;
  bounds?: Partial<MailWorkerBounds>;
  /** Calls back once, unless cancelled by the function it returns. */
  after?: (delayMs: number, callback: () => void) => () => void;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

export interface MailWorkerBounds {
  /** Of a job, from when the worker has it. */
  jobMs: number;
  /** Of a start. */
  startMs: number;
  /** Jobs under way and waiting. */
  jobs: number;
  /** Bytes of their messages; one alone may have more. */
  bytes: number;
  /** Starts that fail in a row until no more are tried. */
  starts: number;
  /** A worker that has had nothing to do for so long is ended: large mails leave it with much memory. */
  idleMs: number;
}

const BOUNDS: MailWorkerBounds = {
  jobMs: 5_000,
  startMs: 10_000,
  jobs: 256,
  bytes: 128 * 1024 * 1024,
  starts: 3,
  idleMs: 60_000,
};

/** Bytes copied in one turn of the event loop. */
const COPIED_BYTES = 2 * 1024 * 1024;

type JobEnd =
  | { type: "result"; result: unknown }
  | { type: "timed_out" }
  | { type: "failed" }
  | { type: "closed" };

/** A job and who waits for it. */
interface WaitingJob {
  kind: MailJobKind;
  raw: Uint8Array;
  input: unknown;
  onStep: (step: never) => void;
  end: (end: JobEnd) => void;
}

export class MailWorker {
  readonly #options: MailWorkerOptions;
  readonly #bounds: MailWorkerBounds;
  readonly #after: NonNullable<MailWorkerOptions["after"]>;
  readonly #now: () => number;
  readonly #waiting: WaitingJob[] = [];
  #bytes = 0;
  #underWay: WaitingJob | null = null;
  /** One that answers, or is starting. */
  #worker: RunningMailWorker | null = null;
  #isReady = false;
  #failedStarts = 0;
  #isClosed = false;
  #cancelTimer: () => void = () => {};

  constructor(options: MailWorkerOptions) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#after = options.after ?? startTimer;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * What a message says; as far as it was read, with `timed_out` or `parser_failed`, where reading it
   * took too long or failed. The texts are encoded as they are kept, in the worker.
   * @param raw not changed, and not to be changed until the promise settles
   * @throws RelayError `unavailable` when too much mail waits to be read
   */
  async read(raw: Uint8Array, context: ParseContext): Promise<ReadMailResult> {
    const mail = emptyParsedMail();
    const end = await this.#run("read", raw, context, (step) => applyPatch(mail, step));
    if (end.type === "closed") throw closing();
    if (end.type === "result") return end.result as ReadMailResult;
    applyPatch(mail, { warnings: [end.type === "timed_out" ? "timed_out" : "parser_failed"] });
    return { facts: mail.facts, ...encodeTexts(mail.texts) };
  }

  /**
   * The attachment `att_{index}` of a message, decoded; null where it has no such one.
   * @param limits that the message was parsed with
   * @throws RelayError `unavailable` when too much mail waits to be read, or it took too long
   * @throws Error when reading it failed
   */
  async readAttachment(
    raw: Uint8Array,
    index: number,
    limits: WalkLimits,
  ): Promise<ReadAttachment | null> {
    const end = await this.#run("attachment", raw, { index, limits }, () => {});
    if (end.type === "closed") throw closing();
    if (end.type === "timed_out") {
      throw unavailable("the attachment could not be read in time: try again later");
    }
    if (end.type === "failed") throw new Error("an attachment could not be read");
    return end.result as ReadAttachment | null;
  }

  /**
   * All attachments of a message, decoded.
   * @param limits that the message was parsed with
   * @throws RelayError `unavailable` when too much mail waits to be read, or it took too long
   * @throws Error when reading them failed
   */
  async readAttachments(raw: Uint8Array, limits: WalkLimits): Promise<ReadAttachment[]> {
    const end = await this.#run("attachments", raw, { limits }, () => {});
    return resultOf(end, "the attachments") as ReadAttachment[];
  }

  /**
   * What mail to a bounce address reports; null for what cannot be applied, which is also what took too
   * long or failed to be read.
   * @param raw its beginning
   * @throws RelayError `unavailable` when too much mail waits to be read
   */
  async readReport(raw: Uint8Array, envelopeFrom: string): Promise<DsnRecipient[] | null> {
    const end = await this.#run("report", raw, { envelopeFrom }, () => {});
    if (end.type === "closed") throw closing();
    return end.type === "result" ? end.result as DsnRecipient[] | null : null;
  }

  /**
   * What the body of a request to send asks for, or why it is refused.
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when reading it failed
   */
  async readRequest<K extends OutgoingKind>(
    kind: K,
    body: Uint8Array,
    context: ReadingContext,
    wantsFingerprint: boolean,
  ): Promise<ReadOutcome<K>> {
    const end = await this.#run("request", body, { kind, context, wantsFingerprint }, () => {});
    return resultOf(end, "the request") as ReadOutcome<K>;
  }

  /**
   * A message as it is sent.
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when composing it failed
   */
  async compose(mail: MailToCompose): Promise<Uint8Array<ArrayBuffer>> {
    const sizeBytes = (mail.text?.length ?? 0) + (mail.html?.length ?? 0) +
      mail.attachments.reduce((sum, { content }) => sum + content.length, 0);
    const end = await this.#run("compose", new Uint8Array(), mail, () => {}, sizeBytes);
    return resultOf(end, "the message") as Uint8Array<ArrayBuffer>;
  }

  /**
   * The texts of a draft, made ready for its page.
   * @param section their bytes
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when it failed
   */
  async preview(section: Uint8Array): Promise<DraftPreview> {
    return resultOf(
      await this.#run("preview", section, null, () => {}),
      "the draft",
    ) as DraftPreview;
  }

  /** Ends the worker. Jobs that wait, and those still to come, are refused. */
  close(): void {
    this.#isClosed = true;
    this.#dropWorker();
    const jobs = [...(this.#underWay === null ? [] : [this.#underWay]), ...this.#waiting.splice(0)];
    this.#underWay = null;
    for (const job of jobs) job.end({ type: "closed" });
  }

  #run<K extends MailJobKind>(
    kind: K,
    raw: Uint8Array,
    input: MailJobs[K]["input"],
    onStep: (step: MailJobs[K]["step"]) => void,
    sizeBytes = raw.length,
  ): Promise<JobEnd> {
    const { promise, resolve } = Promise.withResolvers<JobEnd>();
    if (this.#isClosed) throw closing();
    const count = this.#waiting.length + (this.#underWay === null ? 0 : 1);
    const isFull = count >= this.#bounds.jobs ||
      (count > 0 && this.#bytes + sizeBytes > this.#bounds.bytes);
    if (isFull) throw unavailable("too much mail is being read: try again later");
    this.#bytes += sizeBytes;
    const end = (how: JobEnd) => {
      this.#bytes -= sizeBytes;
      resolve(how);
    };
    this.#waiting.push({ kind, raw, input, onStep: onStep as (step: never) => void, end });
    this.#next();
    return promise;
  }

  /** Begins the next job, unless one is under way. */
  #next(): void {
    if (this.#underWay !== null || this.#waiting.length === 0) return;
    this.#underWay = this.#waiting.shift()!;
    if (this.#worker === null) this.#start();
    else this.#post();
  }

  #start(): void {
    const { start } = this.#options;
    if (start === null || this.#failedStarts >= this.#bounds.starts) {
      this.#runHere();
      return;
    }
    this.#isReady = false;
    let worker: RunningMailWorker | null = null;
    const isCurrent = () => worker !== null && this.#worker === worker;
    try {
      worker = start({
        message: (message) => isCurrent() && this.#take(message),
        died: (failure) => isCurrent() && this.#lose(failure),
      });
    } catch (error) {
      this.#lose(error);
      return;
    }
    this.#worker = worker;
    this.#cancelTimer = this.#after(
      this.#bounds.startMs,
      () => this.#lose(new Error("the mail worker did not start in time")),
    );
  }

  /**
   * Gives the worker a copy of the bytes: the caller keeps its own, and a view may have a larger
   * buffer. Large ones are copied in turns, since memory that is new takes time to be had.
   */
  async #post(): Promise<void> {
    this.#cancelTimer(); // of idleness
    const [job, worker] = [this.#underWay!, this.#worker!];
    const { kind, raw, input } = job;
    const copy = new Uint8Array(raw.length);
    for (let at = 0; at < raw.length; at += COPIED_BYTES) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve));
      if (this.#underWay !== job || this.#worker !== worker) return;
      copy.set(raw.subarray(at, at + COPIED_BYTES), at);
    }
    this.#cancelTimer = this.#after(this.#bounds.jobMs, () => {
      this.#dropWorker();
      this.#end({ type: "timed_out" });
    });
    worker.post({ kind, raw: copy, input }, [copy.buffer]);
  }

  #take(message: WorkerMessage): void {
    if (message.type === "ready") {
      if (this.#isReady) return;
      this.#cancelTimer();
      this.#isReady = true;
      this.#failedStarts = 0;
      if (this.#underWay !== null) this.#post();
    } else if (this.#underWay === null) return;
    else if (message.type === "step") this.#underWay.onStep(message.step as never);
    else if (message.type === "result") this.#end({ type: "result", result: message.result });
    else {
      this.#options.onLoss(new Error(`a mail could not be read: ${message.reason}`));
      this.#end({ type: "failed" });
    }
  }

  /** A worker that never began leaves its job to the main thread; one that died of it does not. */
  #lose(failure: unknown): void {
    const hadBegun = this.#isReady;
    this.#dropWorker();
    this.#options.onLoss(failure);
    if (this.#underWay === null) return;
    if (hadBegun) return this.#end({ type: "failed" });
    this.#failedStarts++;
    this.#runHere();
  }

  #dropWorker(): void {
    this.#cancelTimer();
    this.#worker?.terminate();
    this.#worker = null;
    this.#isReady = false;
  }

  #end(how: JobEnd): void {
    this.#cancelTimer();
    const job = this.#underWay!;
    this.#underWay = null;
    job.end(how);
    this.#next();
    if (this.#underWay !== null || this.#worker === null) return;
    this.#cancelTimer = this.#after(this.#bounds.idleMs, () => this.#dropWorker());
  }

  /** Does the job on the main thread, with a turn of the event loop between its steps. */
  async #runHere(): Promise<void> {
    const job = this.#underWay!;
    const until = this.#now() + this.#bounds.jobMs;
    let how: JobEnd = { type: "failed" };
    try {
      const { MAIL_JOBS } = await import("./mail_jobs.ts");
      const steps = MAIL_JOBS[job.kind].run(job.raw, job.input as never);
      for (;;) {
        const step = await steps.next();
        if (step.done === true) {
          how = { type: "result", result: step.value };
          break;
        }
        job.onStep(step.value as never);
        if (this.#now() > until) {
          how = { type: "timed_out" };
          break;
        }
        await new Promise((resolve) => setTimeout(resolve));
      }
    } catch (error) {
      this.#options.onLoss(error);
    }
    if (this.#underWay === job) this.#end(how);
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
