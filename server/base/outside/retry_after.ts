const DAY_MS = 86_400_000;
/** IMF-fixdate, the form that senders have to use (RFC 9110, section 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long an answer asks to wait: Retry-After as seconds or as a date (RFC 9110, section 10.2.3).
 *
 * @param nowMs unix time
 * @returns ms, 0 to 24 h; null where it is absent or of neither form
 */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : HTTP_DATE.test(text)
    ? Date.parse(text) - nowMs
    : NaN;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), DAY_MS);
}
