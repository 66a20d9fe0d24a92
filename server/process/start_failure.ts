/** What a start that failed tells the operator. */
import { ConfigError } from "../base/config/config.ts";
import { DataFolderInUseError, UnusableDataFolderError } from "./data_folder.ts";
import { DiskFullError } from "./disk_reserve.ts";
import { CALL_DEADLINE_MS, NoAnswer, StoreFailed } from "../base/storage/rows/call_deadline.ts";
import { StoreSilent } from "../base/storage/rows/require_answer.ts";
import { ClockBehindError } from "../base/storage/rows/store_time.ts";

/** What the store and the disk say, and what is to be done about it. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /file is not a database|database disk image is malformed/i,
    "the store in RELAY_DATA_DIR is damaged, or not a relay's: restore it from a backup",
  ],
  [
    /database or disk is full|disk I\/O error|No space left on device/i,
    "the disk of RELAY_DATA_DIR is full, or fails: make room, nothing has to be repaired",
  ],
  [
    /unable to open database file|read-?only database/i,
    "relay.kv in RELAY_DATA_DIR is no file that this relay may write to: give its user the right to",
  ],
];

/** One line: what is wrong, and what to change. */
export function startFailure(failure: unknown): string {
  const hasOwnWords = [ConfigError, DataFolderInUseError, DiskFullError, ClockBehindError];
  if (hasOwnWords.some((kind) => failure instanceof kind)) return (failure as Error).message;
  if (failure instanceof Deno.errors.AddrInUse) {
    return "HOST:PORT is taken by another process: set another PORT or stop that process";
  }
  // The own words of both are a client's.
  if (failure instanceof StoreFailed) return startFailure(failure.cause);
  if (failure instanceof NoAnswer) return startFailure(new StoreSilent(CALL_DEADLINE_MS));
  const reasons = reasonsOf(failure);
  const refused = reasons.find((each) => /^Requires \w+ access/.test(each));
  if (refused !== undefined) return notPermitted(refused);
  for (const [pattern, remedy] of REMEDIES) {
    const reason = reasons.findLast((each) => pattern.test(each));
    if (reason !== undefined) return `${remedy} (${reason})`;
  }
  if (failure instanceof UnusableDataFolderError) return failure.message;
  return `cannot start: ${reasons[0]}`;
}

/** The runtime's words name the flag and what it was for. */
function notPermitted(reason: string): string {
  const [what] = reason.split(", run again");
  const advice = /^Requires net access/.test(reason)
    ? "a KV server may name further hosts for its data: list them in RELAY_KV_HOSTS. "
    : /"[^"]*,/.test(what!)
    ? "no permission can name a path with a comma: take another path. "
    : "";
  return `the relay was started without a permission (${what}): ${advice}` +
    "Deno's permissions for these settings are what `deno task permissions` prints";
}

/** First lines of the error and of its causes. */
function reasonsOf(failure: unknown): [string, ...string[]] {
  if (!(failure instanceof Error)) return [String(failure)];
  const reason = failure.message.split("\n")[0]!;
  return failure.cause === undefined ? [reason] : [reason, ...reasonsOf(failure.cause)];
}
