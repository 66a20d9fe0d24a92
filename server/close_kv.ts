/** Closing a database that may not let itself be closed. */

/** How long a store may take for a last write before the process ends without closing it. */
const CLOSING_MS = 500;

/**
 * Closes the database if it still takes writes. Deno.Kv.close() waits, event loop and all, for
 * whatever is pending, and on a file that another process has locked that is for ever. The end of
 * the process closes it as well: what was committed is safe.
 */
export async function closeKv(kv: Deno.Kv): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), CLOSING_MS);
  const answers = kv.delete(["meta", "closing"]).then(() => true, () => false);
  if (await Promise.race([answers, late])) kv.close();
  clearTimeout(timer);
}
