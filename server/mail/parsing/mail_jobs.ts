/** What the mail worker does: a table of kinds of jobs, each a generator over the bytes of a message. */
import type { ParseContext } from "./parsed_mail.ts";
import type { ParsedPatch } from "./parsed_patch.ts";
import { parseInStages } from "./parse_mail.ts";
import { type ReadAttachment, readAttachment } from "./read_attachment.ts";
import type { WalkLimits } from "./walk_parts.ts";

/** By kind: what a job gets besides the bytes, what it gives on its way, what at its end. */
export interface MailJobs {
  parse: { input: ParseContext; step: ParsedPatch; result: null };
  attachment: {
    input: { index: number; limits: WalkLimits };
    step: never;
    result: ReadAttachment | null;
  };
}

export type MailJobKind = keyof MailJobs;

export interface MailJob<K extends MailJobKind> {
  run: (
    raw: Uint8Array,
    input: MailJobs[K]["input"],
  ) => Generator<MailJobs[K]["step"], MailJobs[K]["result"]>;
  /** Buffers of a result that move to the main thread in place of being copied. */
  buffersOf: (result: MailJobs[K]["result"]) => ArrayBuffer[];
}

export const MAIL_JOBS: { readonly [K in MailJobKind]: MailJob<K> } = {
  parse: {
    *run(raw, context) {
      yield* parseInStages(raw, context);
      return null;
    },
    buffersOf: () => [],
  },
  attachment: {
    // deno-lint-ignore require-yield -- it has one stage
    *run(raw, { index, limits }) {
      return readAttachment(raw, index, limits);
    },
    buffersOf: (result) => result === null ? [] : [result.bytes.buffer],
  },
};

/** A job as it goes to the worker. */
export interface PostedJob {
  kind: MailJobKind;
  raw: Uint8Array;
  input: unknown;
}

/** What comes back: once that it takes jobs, then of each job its steps and its end. */
export type WorkerMessage =
  | { type: "ready" }
  | { type: "step"; step: unknown }
  | { type: "result"; result: unknown }
  | { type: "failed"; reason: string };
