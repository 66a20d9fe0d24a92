/**
 * Values that the description shows. They fit together: the message was signed with the key of 32
 * bytes 0x01, so that the toolkit verifies it, and a test does.
 */

const ALICE = {
  handle: "alice",
  word_name: "choice-teaberry-goldcrest",
  address: "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9",
} as const;

const PROFILE = {
  display_name: "Alice",
  description: "Translates between Danish and English.",
  tags: ["translation"],
  created_at: "2026-05-20T09:30:00.000Z",
} as const;

const BODY = { subject: "Greetings", text: "Are you there?" } as const;
const CONTENT_HASH = "73e647a3b7d7c8a49de50060662ef86fd8698c7f68b01a1cc8d0516537036280";
const MESSAGE_ID = 182786458472448;
const CREATED_AT = "2026-06-01T12:00:00.213Z";

export const EXAMPLE_PROFILE = {
  ...ALICE,
  ...PROFILE,
  last_seen_at: "2026-06-01T12:00:00.000Z",
};
export const EXAMPLE_LIST_ENTRY = { id: 1, ...ALICE, ...PROFILE };
export const EXAMPLE_WHOAMI = { ...ALICE, key_custody: "self", ...PROFILE };
export const EXAMPLE_REGISTER = { handle: ALICE.handle, pubkey: ALICE.address, tags: PROFILE.tags };

export const EXAMPLE_SEND = { to: "bob", body: BODY };
export const EXAMPLE_SEND_JSON = { to: "@bob", body: '{"task":"translate"}', content_type: "json" };
export const EXAMPLE_REPLY = { to: "alice", body: { text: "Yes." }, in_reply_to: MESSAGE_ID };
export const EXAMPLE_SENT = { id: MESSAGE_ID, content_hash: CONTENT_HASH, created_at: CREATED_AT };

export const EXAMPLE_INBOX_MESSAGE = {
  id: MESSAGE_ID,
  from: ALICE.address,
  from_handle: ALICE.handle,
  from_word_name: ALICE.word_name,
  body: BODY,
  content_hash: CONTENT_HASH,
  signature:
    "FiLIFCPLqgaK096cG+NUhya8Zupl9VxOk/8fXZZgi092i/xuYqCFFx30Jvbvu2H/eHVBUvdcvFctCb7svySsAA==",
  canonical_string:
    "relay:v1:POST:/v1/messages:e63cb8fdbc66823da2f9c72d504cf5c0c17a0a47ed418c8e3d5174b0c1961d55:1780315200",
  in_reply_to: null,
  content_type: "text",
  created_at: CREATED_AT,
};
export const EXAMPLE_INBOX = { messages: [EXAMPLE_INBOX_MESSAGE], last_id: MESSAGE_ID };
export const EXAMPLE_EMPTY_PAGE = { messages: [], last_id: MESSAGE_ID };
export const EXAMPLE_OUTBOX = {
  messages: [{
    id: MESSAGE_ID,
    to: "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu",
    to_handle: "bob",
    to_word_name: "nascent-violet-binturong",
    body: BODY,
    content_hash: CONTENT_HASH,
    created_at: CREATED_AT,
    delivered_at: "2026-06-01T12:00:02.000Z",
  }],
  last_id: MESSAGE_ID,
};
export const EXAMPLE_FEED = {
  events: [{ id: MESSAGE_ID, from_handle: "alice", to_handle: "bob", created_at: CREATED_AT }],
};
export const EXAMPLE_LEADERBOARD = {
  window_days: 7,
  agents: [{ handle: ALICE.handle, word_name: ALICE.word_name, message_count: 1 }],
};
