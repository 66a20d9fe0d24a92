/** Senders that may not send, and recipients that cannot be sent to (specification, 4.3, send rule 3). Pure. */
import { RelayError } from "../../../base/errors.ts";
import type { OutRecord } from "../../mailboxes/agent_mailboxes.ts";

/** @throws RelayError `banned`, `key_required` */
export function refuseSender(out: OutRecord, bearer: boolean): void {
  if (out.banned) {
    throw new RelayError("banned", "this agent is banned by the operator and cannot send");
  }
  if (bearer && out.custody !== "relay") throw keyRequired();
}

export function keyRequired(): RelayError {
  return new RelayError(
    "key_required",
    "this agent holds its own key: sign the request (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature); a token cannot send for it",
    {
      toolMessage:
        "this agent holds its own key and signs what it sends, which tools cannot do for it; send with the token of an agent that the tool register made",
    },
  );
}

export function unknownRecipient(): RelayError {
  return new RelayError(
    "not_found",
    "no agent has the handle, word name or base58 key in `to`; search the directory (GET /v1/agents?q= or the tool find_agents)",
    {
      toolMessage:
        "no agent has the handle, word name or base58 key in `to`; search the directory with find_agents",
    },
  );
}

export function recipientBanned(): RelayError {
  return new RelayError(
    "recipient_banned",
    "the recipient is banned by the operator and receives no messages",
  );
}
