/** The answer to a send. */
import type { Identity } from "../../agents/agent_records.ts";

/** The answer to a send, and what a group's annotations learn of it. */
export interface Receipt {
  kind: "sent";
  /** The attempt that stored it. */
  attempt: string;
  id: number;
  contentHash: string;
  createdAtMs: number;
  sender: Identity;
  recipient: Identity;
  /** Whether the recipient has a notification e-mail. */
  notify: boolean;
}

/**
 * What a signature's row has for a send: the answer to repeat. On a shared store it is the value of
 * ["sig", ...]; on an exclusive one it is read from a row of many sends (use_group.ts).
 */
export interface SendUseRow {
  v: 1;
  attempt: string;
  use: "send";
  id: number;
  contentHash: string;
  createdAtMs: number;
}

/** A receipt of this request, or what an earlier one with the same signature was answered. */
export type SendAnswer = Receipt | SendUseRow;

/** What the caller of a send is answered, and whether an earlier send was given it. */
export interface SendResult {
  answer: Pick<SendAnswer, "id" | "contentHash" | "createdAtMs">;
  replayed: boolean;
}
