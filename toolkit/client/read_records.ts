import { AddressError } from "../address_error.ts";
import { decodeAddress } from "../decode_address.ts";
import type { InboxMessage } from "../inbox_message.ts";
import { isWordNameOf } from "../is_word_name_of.ts";
import type { JsonValue } from "../json_value.ts";
import { normalHandle } from "../recipient.ts";
import { type AnswerReader, answerReader, malformed } from "./answer_reader.ts";
import type {
  AgentListEntry,
  AgentProfile,
  InboxPage,
  OutboxMessage,
  OutboxPage,
  Receipt,
  Registration,
  WhoamiRecord,
} from "./records.ts";

// Each function takes parsed JSON, keeps the members of the contract, and throws an AnswerError
// `malformed_answer` that names what is wrong.

export function readProfile(value: JsonValue): AgentProfile {
  const read = answerReader(value);
  const lastSeen = read.optional("last_seen_at", (name) => read.orNull(name, read.string));
  const profile = { ...names(read), ...description(read) };
  return lastSeen === undefined ? profile : { ...profile, last_seen_at: lastSeen };
}

export function readWhoami(value: JsonValue): WhoamiRecord {
  const read = answerReader(value);
  const key_custody = read.oneOf("key_custody", ["self", "relay"]);
  return { ...names(read), key_custody, ...description(read) };
}

export function readAgentList(value: JsonValue): AgentListEntry[] {
  return answerReader(value).list("agents").map((entry) => {
    const read = answerReader(entry);
    return { id: read.integer("id"), ...names(read), ...description(read) };
  });
}

export function readRegistration(value: JsonValue): Registration {
  const read = answerReader(value);
  return { ...names(read), owner_token: read.string("owner_token") };
}

export function readOwnerToken(value: JsonValue): string {
  return answerReader(value).string("owner_token");
}

export function readReceipt(value: JsonValue): Receipt {
  const read = answerReader(value);
  return {
    id: read.integer("id"),
    content_hash: read.string("content_hash"),
    created_at: read.string("created_at"),
  };
}

/** @param since the cursor that was sent: a page that does not lead on would be asked for for ever */
export function readInboxPage(value: JsonValue, since: number): InboxPage {
  return readPage(value, since, inboxMessage);
}

/** @param since the cursor that was sent */
export function readOutboxPage(value: JsonValue, since: number): OutboxPage {
  return readPage(value, since, outboxMessage);
}

function readPage<T extends { readonly id: number }>(
  value: JsonValue,
  since: number,
  readMessage: (value: JsonValue) => T,
): { messages: T[]; last_id: number } {
  const read = answerReader(value);
  const messages = read.list("messages").map(readMessage);
  const last_id = read.integer("last_id");
  let before = since;
  for (const { id } of messages) {
    if (id <= before) throw malformed("has messages that do not ascend by id");
    before = id;
  }
  if (last_id < before) throw malformed("has a last_id before its last message");
  return { messages, last_id };
}

function inboxMessage(value: JsonValue): InboxMessage {
  const read = answerReader(value);
  return {
    id: read.integer("id"),
    from: address(read, "from"),
    from_handle: read.string("from_handle"),
    from_word_name: read.string("from_word_name"),
    body: read.value("body"),
    content_hash: read.string("content_hash"),
    signature: read.string("signature"),
    canonical_string: read.orNull("canonical_string", read.string),
    in_reply_to: read.orNull("in_reply_to", read.integer),
    content_type: read.oneOf("content_type", ["text", "json"]),
    created_at: read.string("created_at"),
  };
}

function outboxMessage(value: JsonValue): OutboxMessage {
  const read = answerReader(value);
  return {
    id: read.integer("id"),
    to: address(read, "to"),
    to_handle: read.string("to_handle"),
    to_word_name: read.string("to_word_name"),
    body: read.value("body"),
    content_hash: read.string("content_hash"),
    created_at: read.string("created_at"),
    delivered_at: read.orNull("delivered_at", read.string),
  };
}

/** An agent's three names; that the word name is the key's own can be told offline. */
function names(read: AnswerReader) {
  const handle = read.string("handle");
  const word_name = read.string("word_name");
  const address = read.string("address");
  if (normalHandle(handle) !== handle) throw malformed("has a handle that is none");
  if (!isWordNameOf(word_name, publicKey(address))) {
    throw malformed("has a word_name that its address does not derive");
  }
  return { handle, word_name, address };
}

function address(read: AnswerReader, name: string): string {
  const text = read.string(name);
  publicKey(text);
  return text;
}

function publicKey(address: string): Uint8Array {
  try {
    return decodeAddress(address);
  } catch (thrown) {
    if (!(thrown instanceof AddressError)) throw thrown;
    throw malformed(`has a wrong address: ${thrown.message}`);
  }
}

function description(read: AnswerReader) {
  return {
    display_name: read.string("display_name"),
    description: read.string("description"),
    tags: read.strings("tags"),
    created_at: read.string("created_at"),
  };
}
