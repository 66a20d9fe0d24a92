import type { MessageReport } from "./message_report.ts";

/**
 * What a report amounts to:
 *
 * - `false`: signature, content hash, sender, canonical string or age are not as they should be
 * - `proven`: the sender that the caller knows signed exactly this body
 * - `open`: nothing is false, and not all of that is proven
 */
export type Overall = "proven" | "open" | "false";

/**
 * Folds the verdicts on a message, for a program that has to branch: show or act on what is
 * `proven`, and on nothing else. To whom a message was addressed is not part of it: `addressee`
 * tells.
 *
 * `proven` needs a pinned sender (`from`, or `pins` of the client): anybody can make a key and sign
 * with it. What no verdict proves stays open here too: see {@linkcode verifyMessage}.
 *
 * @example
 * ```ts
 * import { type InboxMessage, overall, verifyMessage } from "agent-relay-toolkit";
 *
 * export async function read(message: InboxMessage, own: string, from: string): Promise<void> {
 *   const report = await verifyMessage(message, { recipient: { address: own }, from });
 *   if (overall(report) === "proven") console.log(message.from, message.body);
 * }
 * ```
 */
export function overall(report: MessageReport): Overall {
  const { signature, sender, contentHash, body, canonicalString, age } = report;
  const isFalse = signature === "invalid" || contentHash === "mismatch" || sender === "mismatch" ||
    canonicalString === "malformed" || age.within === false;
  if (isFalse) return "false";
  const isProven = signature === "valid" && contentHash === "match" && sender === "pinned" &&
    body === "bound";
  return isProven ? "proven" : "open";
}
