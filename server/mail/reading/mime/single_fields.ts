/**
 * Header fields that a mail may have once: what it is, who wrote it to whom, and where answers go.
 * Of two of these a signature covers the lower one, and readers may show the upper: nobody signed that
 * pair (RFC 6376, 8.15). All but the two of MIME are such as RFC 5322, 3.6, allows once.
 */
export const SINGLE_FIELDS: readonly string[] = [
  "from",
  "reply-to",
  "to",
  "cc",
  "subject",
  "date",
  "message-id",
  "mime-version",
  "content-type",
];
