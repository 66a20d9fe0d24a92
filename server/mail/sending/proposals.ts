/** What becomes of a message that a person has to approve first. */
import type { KeyedCommit } from "../../base/idempotency/key_use.ts";
import type { MailCaller } from "../access/authenticate_key.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { KeptAnswer } from "../mailbox/answers/large_answers.ts";
import type { MessageToSend } from "./sender.ts";

export interface Proposals {
  /**
   * Keeps it as a draft and asks for approval.
   * @param keyed of the request's Idempotency-Key
   * @returns the answer, JSON: {status: "pending_approval", draft}
   */
  propose(
    caller: MailCaller,
    inbox: Inbox,
    message: MessageToSend,
    keyed?: KeyedCommit<KeptAnswer>,
  ): Promise<Uint8Array<ArrayBuffer>>;
}
