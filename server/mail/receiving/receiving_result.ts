/** What a sender is answered once nothing of a message has to be tried again. Pure. */
import { unavailable } from "../../base/errors.ts";
import { isTemporary, type Outcome, type RefusedCode } from "./received_mail.ts";

export interface ReceivingResult {
  accepted: string[];
  rejected: { address: string; code: RefusedCode }[];
}

const RETRY_AFTER_MS = 60_000;

/** @throws RelayError `unavailable` where an address has to be tried again */
export function resultOf(outcomes: readonly Outcome[]): ReceivingResult {
  const open = outcomes.filter(isTemporary);
  if (open.length > 0) {
    const waits = open.map((one) => one.code === null ? 0 : one.retryAfterMs ?? RETRY_AFTER_MS);
    throw unavailable(
      `${open.length} of ${outcomes.length} recipients have no room or rate for this message now; ` +
        "hand it in again later: those that have it are answered the same again",
      Math.max(...waits),
    );
  }
  return {
    accepted: outcomes.filter(({ code }) => code === null).map(({ address }) => address),
    rejected: outcomes.flatMap(({ address, code }) => code === null ? [] : [{ address, code }]),
  };
}
