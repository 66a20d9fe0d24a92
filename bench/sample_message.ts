/** Messages as an inbox gives them, from signers unknown to the relay: what verifiers are measured with. */
import {
  canonicalJson,
  contentHash,
  type InboxMessage,
  type KeyPair,
  signRequest,
  wordName,
} from "../toolkit/mod.ts";

/**
 * A message with a text of some 210 characters.
 * @param i makes its text, its id and its signed second its own
 * @param to base58 address of its recipient
 */
export function sampleMessage(i: number, sender: KeyPair, to: string): InboxMessage {
  const body = { text: `message ${i} ` + "x".repeat(200) };
  const raw = new TextEncoder().encode(canonicalJson({ to, body }));
  const { canonicalString, signature } = signRequest(
    { method: "POST", path: "/v1/messages", body: raw, timestamp: 1760000000 + i },
    sender.privateKey,
  );
  return {
    id: i + 1,
    from: sender.address,
    from_handle: "some_sender",
    from_word_name: wordName(sender.publicKey),
    body,
    content_hash: contentHash(body),
    signature,
    canonical_string: canonicalString,
    in_reply_to: null,
    content_type: "text",
    created_at: "2025-10-09T08:53:20.250Z",
  };
}
