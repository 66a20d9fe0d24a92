/** RFC 3339, UTC, milliseconds, `Z`. */
export function timestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}
