/** Headers under which bytes of strangers are given, so that no browser runs them. Pure. */
import type { FoundAttachment } from "../../reading/parsed/parsed_mail.ts";

const SAFE = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
};

/** For a message as it came. */
export const RAW_HEADERS: Readonly<Record<string, string>> = {
  ...SAFE,
  "Content-Type": "message/rfc822",
  "Content-Disposition": 'attachment; filename="message.eml"',
};

const OCTETS = "application/octet-stream";
/** What a browser would read as a document that can hold scripts. */
const ACTIVE = /^text\/(?:html|xml|xsl)$|[/+](?:xml|svg|xhtml|html|javascript|ecmascript)\b/;
const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

export function attachmentHeaders(
  { filename, contentType }: Pick<FoundAttachment, "filename" | "contentType">,
): Record<string, string> {
  const type = contentType.toLowerCase();
  return {
    ...SAFE,
    "Content-Type": TYPE.test(type) && !ACTIVE.test(type) ? type : OCTETS,
    "Content-Disposition": disposition(filename),
  };
}

/** RFC 6266: a plain name for old clients, the name itself as UTF-8. */
function disposition(filename: string | null): string {
  if (filename === null || filename === "") return "attachment";
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
