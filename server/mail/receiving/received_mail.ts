/** A message on its way in, whatever way it came. */
import type { MailAuth } from "../records/message_record.ts";
import type { Envelope } from "./envelope.ts";

export interface ReceivedMail extends Envelope {
  /** Exactly the bytes that are kept. */
  raw: Uint8Array<ArrayBuffer>;
  /** How many of them the relay has put before what came; none unless given. */
  traceBytes?: number;
  /** The result of the sender checks; absent where they have to be made. */
  auth?: MailAuth;
  /**
   * Whether mail to postmaster@ and abuse@ is taken and passed on: where the relay is the domain's mail
   * server, and for its own agents. A gateway has them go where its operator reads mail.
   */
  reachesOperator?: boolean;
}

/** The bytes as the sender's server gave them: of these are repetitions, and signatures. */
export function cameBytes(
  { raw, traceBytes = 0 }: Pick<ReceivedMail, "raw" | "traceBytes">,
): Uint8Array<ArrayBuffer> {
  return raw.subarray(traceBytes);
}

/** An envelope whose message has not come. */
export interface AnnouncedMail extends Omit<Envelope, "to"> {
  /** What its sender says that it has; absent where it says nothing. */
  sizeBytes?: number;
}

/** Why an address did not get a message. */
export type RefusedCode =
  | "not_found"
  | "blocked"
  | "over_quota"
  | "rate_limited"
  | "org_suspended";

/** The outcome of a message for one address of its envelope. */
export type Outcome =
  | { address: string; code: null }
  | { address: string; code: RefusedCode; retryAfterMs?: number };

/** Whether the sender has to try again for this address. */
export function isTemporary({ code }: Outcome): boolean {
  return code === "over_quota" || code === "rate_limited";
}
