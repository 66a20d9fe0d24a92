/**
 * Reads and composes mail off the main thread (base/workers/job_workers.ts). Of a message that
 * takes longer than its time, or ends the worker, what was read so far is given (docs/adr/0027, 0038).
 */
import { RelayError } from "../../base/errors.ts";
import {
  JobWorkers,
  type JobWorkersOptions,
  type QueuedEnd,
} from "../../base/workers/job_workers.ts";
import { workerOf } from "../../base/workers/start_worker.ts";
import type { EventParts } from "../composing/event_body.ts";
import type { DsnRecipient } from "../reading/reports/dsn.ts";
import type { DraftPreview } from "../composing/reducing/preview_draft.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import {
  type ReadRequest,
  readSendBody,
  type SendBodyKind,
} from "../composing/requests/read_send_body.ts";
import type { ReadingContext } from "../composing/requests/read_send.ts";
import type { OwnPicture } from "../composing/reducing/reduced_addresses.ts";
import type { ReducedHtml } from "../composing/reducing/reduce_html.ts";
import { encodeTexts } from "../reading/parsed/encoded_texts.ts";
import type { ComposedBytes, ComposedMail, MailJobKind, MailJobs, PostedJob } from "./mail_jobs.ts";
import { toEnd } from "../../base/slices/sliced.ts";
import type { ParseContext } from "../reading/parsed/parsed_mail.ts";
import { applyPatch, emptyParsedMail, type ParsedPatch } from "../reading/parsed/parsed_patch.ts";
import type { ListedAttachment, ReadAttachment } from "../reading/mime/read_attachment.ts";
import type { ReadMailResult } from "../reading/read_mail.ts";
import type { WalkLimits } from "../reading/mime/walk_parts.ts";

export type MailWorkerOptions = Omit<JobWorkersOptions<PostedJob, ParsedPatch, unknown>, "here">;

const NO_BYTES = new Uint8Array();
/**
 * A request of so many bytes is read here: it takes less than a millisecond, whatever it holds, and mostly a third of
 * what a job costs this thread.
 */
const SHORT_REQUEST_BYTES = 4 * 1024;
/** A message of so many characters is composed and read in one job. */
const SHORT_MESSAGE_CHARACTERS = 16 * 1024;

/** Starts its worker, with no permission at all. */
export const startMailWorker = workerOf(
  new URL("./mail_worker_program.ts", import.meta.url),
  { name: "mail" },
);

export class MailWorker {
  readonly #workers: JobWorkers<PostedJob, ParsedPatch, unknown>;

  constructor(private readonly options: MailWorkerOptions) {
    this.#workers = new JobWorkers({
      ...options,
      async here(job) {
        const { stepsOf } = await import("./mail_jobs.ts");
        return stepsOf(job);
      },
    });
  }

  /**
   * What a message says; what was read of it, with `timed_out` or `parser_failed`, where reading it
   * took too long or failed. The texts are encoded as they are kept, in the worker.
   * @param raw not changed, and not to be changed until the promise settles
   * @param owner whose turn it takes, here and below: the org that it goes to, or that sends
   * @throws RelayError `unavailable` when too much mail waits to be read
   */
  async read(raw: Uint8Array, context: ParseContext, owner: string): Promise<ReadMailResult> {
    const mail = emptyParsedMail();
    const onStep = (step: ParsedPatch) => applyPatch(mail, step);
    const end = await this.#run("read", raw, context, owner, { onStep });
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
    const end = await this.#run("attachment", raw, { wanted, limits }, owner);
    if (end.type === "result") return end.result as ReadAttachment | null;
    if (end.type !== "timed_out") throw new Error("an attachment could not be read");
    throw unavailable("the attachment could not be read in time: try again later");
  }

  /**
   * The attachments of a message that its record lists, by their SHA-256 in hex; null for what it has not.
   * @param limits that the message was parsed with
   * @throws as readAttachment()
   */
  async readAttachments(
    raw: Uint8Array,
    listed: readonly string[],
    limits: WalkLimits,
    owner: string,
  ): Promise<(ReadAttachment | null)[]> {
    return await this.#resultOf("the attachments", "attachments", raw, { listed, limits }, owner);
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
    const end = await this.#run("report", raw, { envelopeFrom }, owner);
    return end.type === "result" ? end.result as DsnRecipient[] | null : null;
  }

  /**
   * What the body of a request to send asks for.
   * @param wantsFingerprint of the body: where the request has an Idempotency-Key
   * @throws RelayError `invalid_json`, `invalid_email`, `payload_too_large`; `unavailable` when too
   * much waits, or it took too long
   * @throws Error when reading it failed
   */
  async readRequest<K extends SendBodyKind>(
    kind: K,
    body: Uint8Array,
    context: ReadingContext,
    wantsFingerprint: boolean,
    owner: string,
  ): Promise<ReadRequest<K>> {
    const input = { kind, context, wantsFingerprint };
    const outcome = body.length <= SHORT_REQUEST_BYTES
      ? toEnd(readSendBody(kind, body, context, wantsFingerprint))
      : await this.#resultOf("the request", "request", body, input, owner);
    if ("refused" in outcome) throw new RelayError(outcome.refused.code, outcome.refused.message);
    return outcome as ReadRequest<K>;
  }

  /**
   * A message as it is stored and sent.
   * @throws RelayError `unavailable` when too much waits, or it took too long
   * @throws Error when composing it failed
   */
  async compose(mail: MailToCompose, owner: string): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.#compose(mail, owner)).raw;
  }

  async #compose(mail: MailToCompose, owner: string): Promise<ComposedBytes> {
    const sizeBytes = sizeOf(mail);
    return await this.#resultOf("the message", "compose", NO_BYTES, mail, owner, { sizeBytes });
  }

  /**
   * A message as it is stored and sent, and what it says, as read() gives it.
   * @throws as compose(), and as read()
   */
  async composeAndRead(
    mail: MailToCompose,
    context: ParseContext,
    owner: string,
  ): Promise<ComposedMail> {
    if (sizeOf(mail) <= SHORT_MESSAGE_CHARACTERS) {
      const end = await this.#run("compose_read", NO_BYTES, { mail, context }, owner);
      if (end.type === "result") return end.result as ComposedMail;
      // By itself what cannot be composed is told from what cannot be read.
    }
    const composed = await this.#compose(mail, owner);
    return { ...composed, ...await this.read(composed.raw, context, owner) };
  }

  /**
   * The texts of a draft, made ready for its page.
   * @param section their bytes
   * @throws as compose()
   */
  async preview(section: Uint8Array, owner: string): Promise<DraftPreview> {
    return await this.#resultOf("the draft", "preview", section, null, owner);
  }

  /**
   * An HTML as it goes out where a person has to approve it.
   * @param pictures of the message, which it may name
   * @throws as compose()
   */
  async reduce(
    html: string,
    pictures: readonly OwnPicture[],
    owner: string,
  ): Promise<ReducedHtml> {
    const sizeBytes = html.length;
    const given = { html, pictures };
    return await this.#resultOf("the html", "reduce", NO_BYTES, given, owner, { sizeBytes });
  }

  /**
   * The body of an event for webhooks.
   * @param rest as eventBody() has it
   * @throws as compose()
   */
  async eventBody(
    rest: Uint8Array,
    parts: EventParts,
    owner: string,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return await this.#resultOf("the event", "event", rest, parts, owner);
  }

  /** Ends the workers. Jobs that wait, and those still to come, are refused. */
  close(): void {
    this.#workers.close();
  }

  async #run<K extends MailJobKind>(
    kind: K,
    raw: Uint8Array,
    input: MailJobs[K]["input"],
    owner: string,
    { sizeBytes = raw.length, onStep }: {
      sizeBytes?: number;
      onStep?: (step: ParsedPatch) => void;
    } = {},
  ): Promise<Exclude<QueuedEnd<unknown>, { type: "closed" | "refused" }>> {
    const end = await this.#workers.run({ kind, raw, input }, { owner, sizeBytes, onStep });
    if (end.type === "refused") throw unavailable("too much mail is being read: try again later");
    if (end.type === "closed") throw unavailable("the relay is stopping: try again later");
    if (end.type === "failed") {
      this.options.onLoss(new Error(`a mail could not be read: ${end.reason}`));
    }
    return end;
  }

  /** @param what names the job's subject */
  async #resultOf<K extends MailJobKind>(
    what: string,
    ...job: [K, Uint8Array, MailJobs[K]["input"], owner: string, { sizeBytes: number }?]
  ): Promise<MailJobs[K]["result"]> {
    const end = await this.#run(...job);
    if (end.type === "result") return end.result as MailJobs[K]["result"];
    if (end.type !== "timed_out") throw new Error(`${what} could not be made ready`);
    throw unavailable(`${what} took too long to be made ready: try again later`);
  }
}

function sizeOf({ text, html, attachments }: MailToCompose): number {
  return (text?.length ?? 0) + (html?.length ?? 0) +
    attachments.reduce((sum, { content }) => sum + content.length, 0);
}

function unavailable(message: string): RelayError {
  return new RelayError("unavailable", message, { retryAfterMs: 5_000 });
}
