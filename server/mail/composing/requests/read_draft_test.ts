import assert from "node:assert/strict";
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import type { NewAttachment } from "../../records/message_content.ts";
import { changeDraft, type DraftChanges, readDraft, readDraftChanges } from "./read_draft.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const limits = {
  mailRecipientsPerMessage: 50,
  mailBodyBytes: 1024,
  mailAttachments: 3,
  mailRequestBytes: 8192,
};
const context = { limits, nowMs: NOW_MS };
const bare = (address: string) => ({ name: null, address });
const file = { filename: "a.txt", content_type: "text/plain", content: "aGk=" };
const added: NewAttachment = {
  filename: "a.txt",
  contentType: "text/plain",
  contentId: null,
  content: new TextEncoder().encode("hi"),
};
const many = (count: number, prefix = "a") =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}@example.org`);

const EMPTY = {
  to: [],
  cc: [],
  bcc: [],
  subject: null,
  text: null,
  html: null,
  attachments: [],
  replyTo: [],
  labels: [],
  sendAtMs: null,
};

Deno.test("readDraft() takes a draft of nothing", () => {
  const nothing = { ...EMPTY, inReplyToMessageId: null, clientId: null };
  assert.deepEqual(readDraft({}, context), nothing);
  assert.deepEqual(
    readDraft({ to: null, text: "", headers: 5, client_id: null }, context),
    nothing,
  );
});

Deno.test("readDraft() reads what a send may say, but its headers", () => {
  const draft = readDraft({
    to: ["a@example.org", "A@example.org"],
    cc: "a@example.org",
    subject: " Hi ",
    text: "x",
    reply_to: "r@example.org",
    labels: ["l"],
    send_at: "2026-11-23T12:00:00Z",
    attachments: [file],
    in_reply_to_message_id: "msg_x",
    client_id: "c1",
  }, context);
  assert.deepEqual(draft, {
    ...EMPTY,
    to: [bare("a@example.org")],
    subject: "Hi",
    text: "x",
    replyTo: [bare("r@example.org")],
    labels: ["l"],
    sendAtMs: Date.UTC(2026, 10, 23, 12),
    attachments: [added],
    inReplyToMessageId: "msg_x",
    clientId: "c1",
  });
});

const refusedDrafts: [JsonObject, string, RegExp][] = [
  [{ to: ["a@example.org", "x"] }, "invalid_email", /^to\[1\]/],
  [{ to: many(51) }, "invalid_json", /^to, cc and bcc/],
  [{ in_reply_to_message_id: 5 }, "invalid_json", /^in_reply_to_message_id/],
  [{ client_id: "a b" }, "invalid_json", /^client_id/],
  [{ attachments: [{ id: "att_0" }] }, "invalid_json", /^attachments\[0\]\.filename/],
  [{ send_at: "2026-11-22T12:00:01Z" }, "invalid_json", /^send_at/],
  [{ text: "x".repeat(1025) }, "payload_too_large", /^text and html/],
];
for (const [request, code, message] of refusedDrafts) {
  Deno.test(`readDraft() refuses ${JSON.stringify(request).slice(0, 60)}`, () => {
    assert.throws(() => readDraft(request, context), { code, message });
  });
}

Deno.test("readDraftChanges() names what is changed and nothing else", () => {
  const cases: [JsonObject, DraftChanges][] = [
    [{}, {}],
    [{ to: "a@example.org" }, { to: [bare("a@example.org")] }],
    [{ to: [], reply_to: [], labels: [], attachments: [] }, {
      to: [],
      replyTo: [],
      labels: [],
      attachments: [],
    }],
    [{ cc: null, bcc: null, subject: null, text: null, html: null }, {
      cc: [],
      bcc: [],
      subject: null,
      text: null,
      html: null,
    }],
    [{ html: "<p>", subject: "", send_at: "2026-11-23T12:00:00Z" }, {
      html: "<p>",
      subject: null,
      sendAtMs: Date.UTC(2026, 10, 23, 12),
    }],
    [{ attachments: [{ id: "att_1", filename: "as shown.txt", size: 5 }, file] }, {
      attachments: [{ id: "att_1" }, added],
    }],
  ];
  assert.equal(cases.length, 6);
  for (const [request, changes] of cases) {
    assert.deepEqual(readDraftChanges(request, context), changes);
  }
});

const refusedChanges: [JsonObject, string, RegExp][] = [
  [{ headers: {} }, "invalid_json", /^"headers" is not a field to change/],
  [{ revision: 2 }, "invalid_json", /^"revision" is not a field/],
  [{ in_reply_to_message_id: null }, "invalid_json", /^"in_reply_to_message_id" is not/],
  [{ to: null }, "invalid_json", /^to must not be null/],
  [{ attachments: null }, "invalid_json", /^attachments must not be null/],
  [{ labels: null }, "invalid_json", /^labels must not be null/],
  [{ send_at: null }, "invalid_json", /^send_at must not be null/],
  [{ cc: ["x"] }, "invalid_email", /^cc\[0\]/],
  [{ attachments: {} }, "invalid_json", /^attachments must be an array/],
  [{ attachments: [5] }, "invalid_json", /^attachments\[0\] must be an object/],
  [{ attachments: [{ id: 5 }] }, "invalid_json", /^attachments\[0\] must have either/],
  [{ attachments: [{ ...file, id: "att_0" }] }, "invalid_json", /^attachments\[0\] must have/],
  [{ attachments: [{ id: "a" }, { id: "a" }] }, "invalid_json", /^attachments\[1\]\.id is named/],
  [{ attachments: [file, { id: null }] }, "invalid_json", /^attachments\[1\]/],
  [{ attachments: Array(4).fill(file) }, "invalid_json", /^attachments must hold at most 3/],
  [{ text: "x".repeat(1025), a: 1 }, "payload_too_large", /^text and html/],
];
for (const [request, code, message] of refusedChanges) {
  Deno.test(`readDraftChanges() refuses ${JSON.stringify(request).slice(0, 60)}`, () => {
    assert.throws(() => readDraftChanges(request, context), { code, message });
  });
}

const draft = {
  ...EMPTY,
  to: [bare("a@example.org")],
  text: "x".repeat(600),
  attachments: [{ id: "att_0", sizeBytes: 10 }, { id: "att_1", sizeBytes: 3000 }],
};

Deno.test("changeDraft() replaces what is named", () => {
  assert.deepEqual(changeDraft(draft, {}, limits), draft);
  const changes = { subject: "s", attachments: [{ id: "att_1" }, added] };
  assert.deepEqual(changeDraft(draft, changes, limits), {
    ...draft,
    subject: "s",
    attachments: [draft.attachments[1], added],
  });
});

Deno.test("changeDraft() names each address once, over all fields", () => {
  const changed = changeDraft(
    draft,
    { cc: [bare("A@example.org"), bare("b@example.org")] },
    limits,
  );
  assert.deepEqual([changed.to, changed.cc], [[bare("a@example.org")], [bare("b@example.org")]]);
});

Deno.test("changeDraft() refuses what only the whole shows", () => {
  const cases: [DraftChanges, string][] = [
    [{ html: "x".repeat(500) }, "payload_too_large"],
    [{ cc: many(50, "b").map(bare) }, "invalid_json"],
    [{ attachments: [{ id: "att_2" }] }, "invalid_json"],
    [
      { attachments: [{ id: "att_1" }, { ...added, content: new Uint8Array(4000) }] },
      "payload_too_large",
    ],
  ];
  assert.equal(cases.length, 4);
  for (const [changes, code] of cases) {
    assert.throws(() => changeDraft(draft, changes, limits), { code });
  }
});
