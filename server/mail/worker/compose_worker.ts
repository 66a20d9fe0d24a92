/** Reads requests to send and composes messages in a worker, whatever their size. */
import { RelayError } from "../../base/errors.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import type { DraftPreview } from "../composing/reducing/preview_draft.ts";
import type { MailWorker } from "./mail_worker.ts";
import type { OwnPicture } from "../composing/reducing/reduced_addresses.ts";
import type { ReducedHtml } from "../composing/reducing/reduce_html.ts";
import type { SendBodies, SendBodyKind } from "../composing/requests/read_send_body.ts";
import type { ReadingContext } from "../composing/requests/read_send.ts";

/** A request, and the fingerprint of its body where it was asked for. */
export interface ReadRequest<K extends SendBodyKind> {
  request: SendBodies[K];
  fingerprint: string | null;
}

export class ComposeWorker {
  /**
   * @param worker one that reads no mail of strangers: such mail may hold a worker for seconds, and
   * this one gets the DKIM key
   */
  constructor(
    private readonly worker: Pick<MailWorker, "readRequest" | "compose" | "preview" | "reduce">,
  ) {}

  /**
   * What the body of a request asks for.
   * @param wantsFingerprint whether the request has an Idempotency-Key
   * @param owner whose turn it takes, here and below: the org that sends
   * @throws RelayError `invalid_json`, `invalid_email`, `payload_too_large`; `unavailable` when too
   * much waits for the worker
   */
  async read<K extends SendBodyKind>(
    kind: K,
    body: Uint8Array,
    context: ReadingContext,
    wantsFingerprint: boolean,
    owner: string,
  ): Promise<ReadRequest<K>> {
    const outcome = await this.worker.readRequest(kind, body, context, wantsFingerprint, owner);
    if (!("refused" in outcome)) return outcome;
    throw new RelayError(outcome.refused.code, outcome.refused.message);
  }

  /**
   * The message as it is stored and sent.
   * @throws RelayError `unavailable` when too much waits for the worker
   */
  async compose(mail: MailToCompose, owner: string): Promise<Uint8Array<ArrayBuffer>> {
    return await this.worker.compose(mail, owner);
  }

  /**
   * An HTML as it goes out where a person has to approve it.
   * @throws RelayError `unavailable` when too much waits for the worker
   */
  async reduce(
    html: string,
    pictures: readonly OwnPicture[],
    owner: string,
  ): Promise<ReducedHtml> {
    return await this.worker.reduce(html, pictures, owner);
  }

  /**
   * The texts of a draft, made ready for its page.
   * @param section their bytes
   * @throws RelayError `unavailable` when too much waits for the worker
   */
  async preview(section: Uint8Array, owner: string): Promise<DraftPreview> {
    return await this.worker.preview(section, owner);
  }
}
