/** Closing a database that may not let itself be closed. */
import { doneWithin } from "../../time/done_within.ts";
import { defineRow } from "../rows/row_key.ts";

/** How long a store may take for a last write before the process ends without closing it. */
const CLOSING_MS = 500;
const CLOSING_KEY = defineRow(["meta", "closing"], 0, {
  holds: "nothing: its deletion shows whether the store still takes writes before it is closed",
})();

/**
 * Closes the database if it still takes writes. Deno.Kv.close() waits, event loop and all, for
 * whatever is pending, and on a file that another process has locked that is for ever. The end of
 * the process closes it as well: what was committed is safe.
 */
export async function closeKv(kv: Deno.Kv): Promise<void> {
  const lastWrite = kv.delete(CLOSING_KEY);
  if (await doneWithin(lastWrite, CLOSING_MS).catch(() => false)) kv.close();
}
