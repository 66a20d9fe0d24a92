/**
 * A program of somebody who has installed the package: it is type-checked and run where nothing but
 * the package is. Prints one line of JSON.
 */
import {
  type Addressee,
  canonicalJson,
  generateKeyPair,
  type InboxMessage,
  MessageError,
  type MessageReport,
  signRequest,
  verifyMessage,
  wordName,
} from "agent-relay-toolkit";
import {
  type MailEvent,
  RelayClient,
  type RelayClientOptions,
  verifyWebhook,
  WebhookError,
} from "agent-relay-toolkit/client";

const [sender, recipient] = [generateKeyPair(), generateKeyPair()];
const body = { text: "hello" };
const { canonicalString, signature } = signRequest({
  method: "POST",
  path: "/v1/messages",
  body: new TextEncoder().encode(canonicalJson({ to: recipient.address, body })),
  timestamp: 1760000000,
}, sender.privateKey);
const message: InboxMessage = {
  id: 1,
  from: sender.address,
  from_handle: "some_sender",
  from_word_name: wordName(sender.publicKey),
  body,
  content_hash: "",
  signature,
  canonical_string: canonicalString,
  in_reply_to: null,
  content_type: "text",
  created_at: "2025-10-09T08:53:20.000Z",
};
const report: MessageReport = await verifyMessage(message, { recipient });
const addressee: Addressee | "unknown" = report.addressee;
// @ts-expect-error a report has no such verdict
const none: unknown = report.verified;

const error: unknown = await verifyMessage({ ...message, id: 0 }).catch((reason) => reason);
const field = error instanceof MessageError ? error.field : undefined;

const options: RelayClientOptions = { relay: "https://relay.example", keys: sender };
const client = new RelayClient(options);

function subjectOf(event: MailEvent): string | null {
  return event.type === "message.received" ? event.data.message.subject : null;
}

let refusal: string | undefined;
try {
  subjectOf(verifyWebhook("rmwh_" + btoa("0".repeat(32)), {}, "{}"));
} catch (thrown) {
  refusal = thrown instanceof WebhookError ? thrown.code : undefined;
}

console.log(JSON.stringify({
  verdicts: [report.signature, report.contentHash, report.body, addressee],
  none: none === undefined,
  field,
  client: typeof client.send,
  refusal,
}));
