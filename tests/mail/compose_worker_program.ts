/** Composes what it is given, without permissions: for compose_worker_test.ts. */
import { composeMail, type MailToCompose } from "../../server/mail/composing/compose_mail.ts";
import { type OutgoingKind, readOutgoing } from "../../server/mail/sending/read_outgoing.ts";
import { OUTGOING_LIMITS } from "../support/outgoing_limits.ts";

const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent) => void;
  postMessage(message: unknown): void;
};

scope.onmessage = async ({ data }: MessageEvent<Job>) => {
  if ("mail" in data) scope.postMessage(await composeMail(data.mail));
  else {
    const context = { limits: OUTGOING_LIMITS, nowMs: data.nowMs };
    scope.postMessage(readOutgoing(data.kind, data.body, context, true));
  }
};
scope.postMessage("ready");

export type Job = { mail: MailToCompose } | { kind: OutgoingKind; body: Uint8Array; nowMs: number };
