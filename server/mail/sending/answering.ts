/** Replies and forwards as messages to send (docs/mail.md). */
import { RelayError } from "../../base/errors.ts";
import type { NewAttachment } from "../records/message_content.ts";
import type { ShownTexts } from "../mailbox/shown/shown_texts.ts";
import type { ShownHead } from "../reading/parsed/encoded_texts.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import type { Inbox } from "../records/inbox_record.ts";
import { HEAD, type MessageRow, RAW, REST, SHOWN } from "../records/message_record.ts";
import { answerAutoSubmitted, answerReferences, prefixedSubject } from "./answer_headers.ts";
import { forwardedAttachment } from "./forwarded_attachment.ts";
import { forwardText } from "./forward_text.ts";
import { refuseLargeMessage } from "../composing/requests/message_size.ts";
import type { ForwardRequest } from "../composing/requests/read_forward.ts";
import type { ReplyRequest } from "../composing/requests/read_reply.ts";
import { replyTargets } from "./reply_targets.ts";
import type { MessageToSend } from "./sender.ts";

/** Texts of a message that are read to be forwarded; parsing more would hold the main thread. */
const MOST_TEXT_BYTES = 16 * 1024 * 1024;

export class Answering {
  constructor(private readonly services: MailCore) {}

  /** @throws RelayError `invalid_email` where nobody is left to answer to */
  reply(
    row: MessageRow,
    inbox: Inbox,
    { text, html, attachments, replyAll }: ReplyRequest,
  ): MessageToSend {
    const { limits, domain } = this.services;
    const ownAddress = `${inbox.localPart}@${domain}`;
    return {
      ...replyTargets(row, { ownAddress, replyAll, limits }),
      ...NOTHING_MORE,
      ...answerReferences(row),
      subject: prefixedSubject("Re:", row.subject),
      text,
      html,
      attachments,
      autoSubmitted: answerAutoSubmitted(row),
      about: row,
    };
  }

  /** @throws RelayError `payload_too_large` where the whole would be more than may be sent */
  async forward(row: MessageRow, { to, cc, bcc, text }: ForwardRequest): Promise<MessageToSend> {
    const { limits } = this.services;
    const whole = forwardText(text, row, await this.#textOf(row), limits);
    const sizes = row.attachments.map(({ sizeBytes }) => sizeBytes);
    refuseLargeMessage({ text: whole, html: null }, sizes, limits);
    return {
      to,
      cc,
      bcc,
      ...NOTHING_MORE,
      ...answerReferences(row),
      subject: prefixedSubject("Fwd:", row.subject),
      text: whole,
      html: null,
      attachments: await this.#attachmentsOf(row),
      autoSubmitted: answerAutoSubmitted(row),
      about: row,
    };
  }

  /** The whole text that mail programs show; null where there is none. @throws BlobDamaged */
  async #textOf({ blob }: MessageRow): Promise<string | null> {
    if (blob.sections[REST]!.sizeBytes > MOST_TEXT_BYTES) {
      throw new RelayError(
        "payload_too_large",
        "the message is longer than a message that is sent may be; send what is needed of it",
      );
    }
    const read = async (section: number) =>
      JSON.parse(new TextDecoder().decode(await this.services.blobs.read(blob, section)));
    if (blob.sections[SHOWN] !== undefined) return await read(SHOWN) as string;
    const head: ShownHead = await read(HEAD);
    return head.shown ?? (await read(REST) as ShownTexts).text;
  }

  async #attachmentsOf(row: MessageRow): Promise<NewAttachment[]> {
    const { blobs, reader, limits } = this.services;
    if (row.attachments.length === 0) return [];
    const raw = await blobs.read(row.blob, RAW);
    // The row may list fewer than the message has: those go on that it shows.
    const read = await reader.readAttachments(raw, row.attachments.map(({ sha256 }) => sha256), {
      parts: limits.mailParts,
      depth: limits.mailDepth,
    }, row.orgId);
    return row.attachments.flatMap((attachment, index) => {
      const found = read[index] ?? null;
      return found === null ? [] : [forwardedAttachment(attachment, found.bytes)];
    });
  }
}

/** What only a message of one's own may have. */
const NOTHING_MORE = { headers: [], replyTo: [], labels: [], sendAtMs: null };
