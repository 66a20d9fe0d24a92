import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { canonicalJson } from "./canonical_json.ts";
import type { MessageSnapshot } from "./inbox_message.ts";
import type { Addressee, RecipientForms } from "./recipient.ts";

/**
 * Rebuilds the requests, at most 24, that a sender of canonical JSON (RFC 8785) can have signed for
 * a message. Says in which form the one with the signed hash addressed the recipient.
 *
 * A match proves body, addressee form, reply and content type: canonical JSON is injective on
 * them, so that no other message has the same bytes.
 *
 * @param message what was received
 * @param recipient who received it
 * @param bodyHash the hash in the canonical string, 64 lowercase hex digits
 * @returns the form, or undefined when no candidate has that hash
 */
export function matchCandidates(
  message: MessageSnapshot,
  recipient: RecipientForms,
  bodyHash: string,
): Addressee | undefined {
  const body = message.contentType === "json" ? canonicalJson(message.body) : message.body;
  // Canonical JSON sorts body before the other members, so that all candidates begin alike and
  // the body is hashed once.
  const prefix = sha256.create().update(utf8ToBytes(`{"body":${body}`));
  for (const [addressee, to] of addressForms(recipient)) {
    for (const inReplyTo of spellings("in_reply_to", message.inReplyTo)) {
      const contentType = message.contentType === "text"
        ? [...spellings("content_type", null), ',"content_type":"text"']
        : [',"content_type":"json"'];
      for (const type of contentType) {
        const rest = utf8ToBytes(`${type}${inReplyTo},"to":${JSON.stringify(to)}}`);
        if (bytesToHex(prefix.clone().update(rest).digest()) === bodyHash) return addressee;
      }
    }
  }
  return undefined;
}

function addressForms(recipient: RecipientForms): [Addressee, string][] {
  const { address, wordName, handle } = recipient;
  const forms: [Addressee, string][] = [["key", address], ["word-name", wordName]];
  if (handle !== undefined) forms.push(["handle", handle], ["handle", `@${handle}`]);
  return forms;
}

/** How a request can spell a member: null also by leaving it out. */
function spellings(name: string, value: number | null): string[] {
  const written = `,"${name}":${value}`;
  return value === null ? ["", written] : [written];
}
