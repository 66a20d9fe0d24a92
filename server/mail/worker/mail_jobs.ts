/** What the mail worker does: a table of kinds of jobs, each a generator over the bytes of a message. */
import { base64urlnopad } from "@scure/base";
import { sha256Of } from "../../base/slices/sha256_of.ts";
import type { JobSteps } from "../../base/workers/job_workers.ts";
import { composeInSlices, type MailToCompose } from "../composing/compose_mail.ts";
import { eventBody, type EventParts } from "../composing/event_body.ts";
import type { DsnRecipient } from "../reading/reports/dsn.ts";
import { readReport } from "../reading/reports/read_report.ts";
import { type DraftPreview, previewDraft } from "../composing/reducing/preview_draft.ts";
import {
  buffersOfBody,
  type ReadOutcome,
  readSendBody,
  type SendBodyKind,
} from "../composing/requests/read_send_body.ts";
import type { ReadingContext } from "../composing/requests/read_send.ts";
import type { ParseContext } from "../reading/parsed/parsed_mail.ts";
import { encodeTexts } from "../reading/parsed/encoded_texts.ts";
import type { OwnPicture } from "../composing/reducing/reduced_addresses.ts";
import { type ReducedHtml, reduceHtml } from "../composing/reducing/reduce_html.ts";
import { applyPatch, emptyParsedMail, type ParsedPatch } from "../reading/parsed/parsed_patch.ts";
import { parseInStages } from "../reading/parse_mail.ts";
import {
  type ListedAttachment,
  type ReadAttachment,
  readAttachment,
  readAttachments,
} from "../reading/mime/read_attachment.ts";
import type { ReadMailResult } from "../reading/read_mail.ts";
import type { WalkLimits } from "../reading/mime/walk_parts.ts";

/** By kind: what a job gets with the bytes, what it gives on its way, and what at its end. */
export interface MailJobs {
  read: { input: ParseContext; step: ParsedPatch; result: ReadMailResult };
  attachment: {
    input: { wanted: ListedAttachment; limits: WalkLimits };
    step: never;
    result: ReadAttachment | null;
  };
  attachments: {
    input: { listed: readonly string[]; limits: WalkLimits };
    step: never;
    result: (ReadAttachment | null)[];
  };
  /** A request to send; the bytes are its body. */
  request: {
    input: { kind: SendBodyKind; context: ReadingContext; wantsFingerprint: boolean };
    step: never;
    result: ReadOutcome<SendBodyKind>;
  };
  /** Mail to a bounce address: its beginning, and its envelope sender. */
  report: { input: { envelopeFrom: string }; step: never; result: DsnRecipient[] | null };
  /** The texts of a draft, which are the bytes, as its page shows them. */
  preview: { input: null; step: never; result: DraftPreview };
  /** The HTML of what a person has to approve. */
  reduce: {
    input: { html: string; pictures: readonly OwnPicture[] };
    step: never;
    result: ReducedHtml;
  };
  /** A message to send; it has no bytes yet. */
  compose: { input: MailToCompose; step: never; result: ComposedBytes };
  /** The same of a short one, and what reading it gives: one job in place of two. */
  compose_read: {
    input: { mail: MailToCompose; context: ParseContext };
    step: ParsedPatch;
    result: ComposedMail;
  };
  /** The body of an event for webhooks; the bytes are the texts of its message. */
  event: { input: EventParts; step: never; result: Uint8Array<ArrayBuffer> };
}

export interface ComposedBytes {
  raw: Uint8Array<ArrayBuffer>;
  /** SHA-256 of it, base64url without padding. */
  sha256: string;
}

/** A composed message, and what it says. */
export interface ComposedMail extends ReadMailResult, ComposedBytes {}

export type MailJobKind = keyof MailJobs;

export interface MailJob<K extends MailJobKind> {
  /** Yields null where others may run: on the main thread they get it every few ms. */
  run: (
    raw: Uint8Array,
    input: MailJobs[K]["input"],
  ) => JobSteps<MailJobs[K]["step"], MailJobs[K]["result"]>;
  /** Buffers of a result that move to the main thread in place of being copied. */
  buffersOf: (result: MailJobs[K]["result"]) => ArrayBuffer[];
}

/**
 * No stage of a smaller mail takes time that anybody could run out of, whatever it holds: it is told
 * whole. A step costs the main thread as much as the mail.
 */
const UNSTEPPED_BYTES = 64 * 1024;
/** Texts of a step that are shown to the main thread at once; longer ones come encoded at the end. */
const STEP_TEXT_LENGTH = 64 * 1024;

export const MAIL_JOBS: { readonly [K in MailJobKind]: MailJob<K> } = {
  read: {
    *run(raw, context) {
      const mail = emptyParsedMail();
      for (const patch of parseInStages(raw, context)) {
        if (patch === null) {
          yield null;
          continue;
        }
        applyPatch(mail, patch);
        if (raw.length > UNSTEPPED_BYTES) yield shortPatch(patch);
      }
      const { facts, texts } = mail;
      const { given } = context;
      const shown = given === undefined
        ? texts
        : { ...texts, text: given.text ?? texts.text, html: given.html };
      return { facts, ...encodeTexts(shown) };
    },
    buffersOf: ({ head, rest, shown }) =>
      [head, rest, shown].flatMap((section) => section?.buffer ?? []),
  },
  attachment: {
    run: (raw, { wanted, limits }) => readAttachment(raw, wanted, limits),
    buffersOf: (result) => result === null ? [] : [result.bytes.buffer],
  },
  attachments: {
    run: (raw, { listed, limits }) => readAttachments(raw, listed, limits),
    buffersOf: (result) => result.flatMap((read) => read?.bytes.buffer ?? []),
  },
  request: {
    run: (body, { kind, context, wantsFingerprint }) =>
      readSendBody(kind, body, context, wantsFingerprint),
    buffersOf: buffersOfBody,
  },
  report: {
    run: (raw, { envelopeFrom }) => readReport(raw, envelopeFrom),
    buffersOf: () => [],
  },
  preview: {
    run: previewDraft,
    buffersOf: () => [],
  },
  reduce: {
    run: (_, { html, pictures }) => reduceHtml(html, pictures),
    buffersOf: () => [],
  },
  compose: {
    run: (_, mail) => composeAndHash(mail),
    buffersOf: ({ raw }) => [raw.buffer],
  },
  compose_read: {
    async *run(_, { mail, context }) {
      const composed = yield* composeAndHash(mail);
      return { ...composed, ...yield* MAIL_JOBS.read.run(composed.raw, context) };
    },
    buffersOf: (composed) => [composed.raw.buffer, ...MAIL_JOBS.read.buffersOf(composed)],
  },
  event: {
    // deno-lint-ignore require-yield -- one step: its parts are bounded
    *run(rest, parts) {
      return eventBody(rest, parts);
    },
    buffersOf: (body) => [body.buffer],
  },
};

/** A job as it goes to the worker. */
export interface PostedJob {
  kind: MailJobKind;
  raw: Uint8Array;
  input: unknown;
}

/** What a job does, whichever it is. */
export function stepsOf({ kind, raw, input }: PostedJob): JobSteps<ParsedPatch, unknown> {
  return MAIL_JOBS[kind].run(raw, input as never);
}

async function* composeAndHash(mail: MailToCompose): AsyncGenerator<null, ComposedBytes> {
  const raw = yield* composeInSlices(mail);
  yield null;
  return { raw, sha256: base64urlnopad.encode(await sha256Of(raw)) };
}

/** A patch without texts that would hold up who gets it. */
function shortPatch(patch: ParsedPatch): ParsedPatch {
  if (patch.texts === undefined) return patch;
  const texts = Object.fromEntries(
    Object.entries(patch.texts).filter(([, text]) =>
      typeof text !== "string" || text.length <= STEP_TEXT_LENGTH
    ),
  );
  return { ...patch, texts };
}
