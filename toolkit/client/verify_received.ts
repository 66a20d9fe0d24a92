import type { InboxMessage } from "../inbox_message.ts";
import { MessageError } from "../message_error.ts";
import type { MessageReport } from "../message_report.ts";
import { verifyMessage, type VerifyMessageOptions } from "../verify_message.ts";
import { malformed } from "./answer_reader.ts";
import type { WhoamiRecord } from "./records.ts";
import { RefusalError } from "./refusal_error.ts";

/** What a verification may ask the relay for. */
export interface Evidence {
  /** The recipient's own address. */
  readonly address: string;
  /** Its other names. */
  whoami(): Promise<WhoamiRecord>;
  /** The raw signed request of a message. */
  signedRequest(id: number): Promise<Uint8Array>;
}

/** A report, and what it rests on. */
export interface Verification {
  readonly report: MessageReport;
  readonly checkedWith: VerifyMessageOptions;
}

/**
 * Verifies a received message, offline where that is enough. If the recipient's key does not bind
 * the body to its signature, its other names are tried. After that the raw signed request is.
 *
 * @param options the sender's address as known from elsewhere, the allowed skew
 * @returns the report, whose `body` is `unbound` when the relay has no such request either
 * @throws {AnswerError} `malformed_answer` for what is no message
 */
export async function verifyReceived(
  message: InboxMessage,
  { address, whoami, signedRequest }: Evidence,
  options: Pick<VerifyMessageOptions, "from" | "maxSkewSeconds">,
): Promise<Verification> {
  const byKey = await verified(message, { ...options, recipient: { address } });
  if (byKey.report.body !== "unbound" || byKey.report.canonicalString !== "ok") return byKey;
  const { handle, word_name: wordName } = await whoami();
  const recipient = { address, handle, wordName };
  const byName = await verified(message, { ...options, recipient });
  if (byName.report.body !== "unbound") return byName;
  const request = await requestOf(message.id, signedRequest);
  return request === undefined
    ? byName
    : await verified(message, { ...options, recipient, request });
}

async function verified(
  message: InboxMessage,
  checkedWith: VerifyMessageOptions,
): Promise<Verification> {
  try {
    return { report: await verifyMessage(message, checkedWith), checkedWith };
  } catch (thrown) {
    if (!(thrown instanceof MessageError) || thrown.code === "invalid_option") throw thrown;
    throw malformed(`has a message that is none: ${thrown.message}`);
  }
}

async function requestOf(
  id: number,
  signedRequest: Evidence["signedRequest"],
): Promise<Uint8Array | undefined> {
  try {
    return await signedRequest(id);
  } catch (thrown) {
    // Expired since, or a relay without this route: then the body stays unbound.
    if (thrown instanceof RefusalError && thrown.status === 404) return undefined;
    throw thrown;
  }
}
