/** How large a message may be that comes from more than one request: a forward, a changed draft. Pure. */
import { Buffer } from "node:buffer";
import { RelayError } from "../../../base/errors.ts";
import type { MessageBodies, MessageLimits } from "../../records/message_content.ts";

/**
 * Refuses what would not fit one request to send.
 * @param attachmentBytes decoded sizes
 * @throws RelayError `payload_too_large`
 */
export function refuseLargeMessage(
  { text, html }: MessageBodies,
  attachmentBytes: readonly number[],
  limits: Pick<MessageLimits, "mailRequestBytes" | "mailAttachments">,
): void {
  const { mailRequestBytes: mostBytes, mailAttachments: most } = limits;
  const bodyBytes = Buffer.byteLength(text ?? "") + Buffer.byteLength(html ?? "");
  const base64Bytes = attachmentBytes.reduce((sum, size) => sum + Math.ceil(size / 3) * 4, 0);
  if (attachmentBytes.length <= most && bodyBytes + base64Bytes <= mostBytes) return;
  throw new RelayError(
    "payload_too_large",
    `a message takes at most ${most} attachments, and ${mostBytes} bytes with these in base64; this one would have ${attachmentBytes.length} and ${
      bodyBytes + base64Bytes
    }: send what is needed as a new message`,
  );
}
