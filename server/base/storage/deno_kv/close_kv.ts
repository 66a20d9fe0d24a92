/** Closing a database that may not let itself be closed. */
import { doneWithin } from "../../time/done_within.ts";

/** How long a store may take for a last write before the process ends without closing it. */
const CLOSING_MS = 500;

/**
 * Closes the database if it still takes writes. Deno.Kv.close() waits, event loop and all, for
 * whatever is pending, and on a file that another process has locked that is for ever. The end of
 * the process closes it as well: what was committed is safe.
 */
export async function closeKv(kv: Deno.Kv): Promise<void> {
  const lastWrite = kv.delete(["meta", "closing"]);
  if (await doneWithin(lastWrite, CLOSING_MS).catch(() => false)) kv.close();
}
