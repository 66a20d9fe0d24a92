/** An attachment of a stranger's mail, made fit to go on (docs/mail.md). Pure. */
import type { NewAttachment } from "../records/message_content.ts";
import type { FoundAttachment } from "../reading/parsed/parsed_mail.ts";
import { cleanLineOf } from "../composing/requests/clean_line_of.ts";
import { isContentType, MAX_FILENAME } from "../composing/requests/read_attachments.ts";

/** What it is called, and its type; what a request could not say is replaced. It stands inline nowhere. */
export function forwardedAttachment(
  { id, filename, contentType }: Pick<FoundAttachment, "id" | "filename" | "contentType">,
  content: Uint8Array<ArrayBuffer>,
): NewAttachment {
  const name = (filename ?? "").replace(/[/\\]/g, "_").replaceAll("=?", "= ?");
  const type = contentType.toLowerCase();
  return {
    filename: cleanLineOf(name, MAX_FILENAME) || id,
    // A message would have to go unencoded (RFC 2046, section 5.2.1), which breaks on the way.
    contentType: isContentType(type) ? type : "application/octet-stream",
    contentId: null,
    content,
  };
}
