/** A time as mail writes it, in UTC: "Sun, 22 Nov 2026 10:00:00 +0000" (RFC 5322, section 3.3). @param atMs unix ms */
export function rfc5322Date(atMs: number): string {
  return new Date(atMs).toUTCString().replace("GMT", "+0000");
}
