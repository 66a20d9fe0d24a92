/** Reads requests to send and composes messages: small ones here, large ones in a worker. */
import { RelayError } from "../../errors.ts";
import { composeMail, type MailToCompose } from "../composing/compose_mail.ts";
import { type DraftPreview, previewDraft } from "../drafts/preview.ts";
import type { MailWorker } from "../parsing/mail_worker.ts";
import {
  type OutgoingKind,
  type OutgoingRequests,
  type ReadOutcome,
  readOutgoing,
} from "./read_outgoing.ts";
import type { ReadingContext } from "./read_send.ts";

/** What takes the main thread some ms at most. */
const SMALL_BYTES = 64 * 1024;

/** A request, and the fingerprint of its body where it was asked for. */
export interface ReadRequest<K extends OutgoingKind> {
  request: OutgoingRequests[K];
  fingerprint: string | null;
}

export class OutgoingWork {
  /**
   * @param worker one that reads no mail of strangers: such mail may hold a worker for seconds, and
   * this one gets the DKIM key
   */
  constructor(private readonly worker: Pick<MailWorker, "readRequest" | "compose" | "preview">) {}

  /**
   * What the body of a request asks for.
   * @param wantsFingerprint whether the request has an Idempotency-Key
   * @throws RelayError `invalid_json`, `invalid_email`, `payload_too_large`; `unavailable` when too
   * much waits for the worker
   */
  async read<K extends OutgoingKind>(
    kind: K,
    body: Uint8Array,
    context: ReadingContext,
    wantsFingerprint: boolean,
  ): Promise<ReadRequest<K>> {
    const outcome: ReadOutcome<K> = body.length <= SMALL_BYTES
      ? readOutgoing(kind, body, context, wantsFingerprint)
      : await this.worker.readRequest(kind, body, context, wantsFingerprint);
    if (!("refused" in outcome)) return outcome;
    throw new RelayError(outcome.refused.code, outcome.refused.message);
  }

  /**
   * The message as it is stored and sent.
   * @throws RelayError `unavailable` when too much waits for the worker
   */
  async compose(mail: MailToCompose): Promise<Uint8Array<ArrayBuffer>> {
    const { text, html, attachments } = mail;
    const size = attachments.reduce(
      (sum, { content }) => sum + content.length,
      (text?.length ?? 0) + (html?.length ?? 0),
    );
    return size <= SMALL_BYTES ? await composeMail(mail) : await this.worker.compose(mail);
  }

  /**
   * The texts of a draft, made ready for its page.
   * @param section their bytes
   * @throws RelayError `unavailable` when too much waits for the worker
   */
  async preview(section: Uint8Array): Promise<DraftPreview> {
    return section.length <= SMALL_BYTES
      ? previewDraft(section)
      : await this.worker.preview(section);
  }
}
