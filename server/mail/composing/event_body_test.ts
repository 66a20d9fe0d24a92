import assert from "node:assert/strict";
import { eventBody, type EventParts } from "./event_body.ts";

const MOST_BYTES = 96 * 1024;

function partsOf(fields: Partial<EventParts> = {}): EventParts {
  return {
    id: "evt_1",
    type: "message.received",
    timestamp: "2026-06-01T12:00:00.000Z",
    orgId: "org_1",
    inboxId: "ibx_1",
    message: { id: "msg_1", subject: "Hello", parse_warnings: [], references: [] },
    thread: { id: "thr_1", participants: [] },
    recipient: null,
    draft: null,
    draftTexts: null,
    ...fields,
  };
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const restOf = (fields: Record<string, unknown> = {}) =>
  bytesOf({
    text: "Hi",
    html: "<p>Hi</p>",
    extracted_text: "Hi",
    headers: { "x-secret": ["1"] },
    links: [],
    ...fields,
  });
const bodyOf = (rest: Uint8Array, parts: EventParts) => {
  const bytes = eventBody(rest, parts);
  return {
    size: bytes.length,
    body: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
  };
};

Deno.test("eventBody() has the message as GET has it, without its headers", () => {
  assert.deepEqual(bodyOf(restOf(), partsOf({ recipient: { address: "a@b.test" } })).body, {
    id: "evt_1",
    type: "message.received",
    timestamp: "2026-06-01T12:00:00.000Z",
    org_id: "org_1",
    inbox_id: "ibx_1",
    data: {
      message: {
        id: "msg_1",
        subject: "Hello",
        parse_warnings: [],
        references: [],
        text: "Hi",
        html: "<p>Hi</p>",
        extracted_text: "Hi",
        links: [],
      },
      thread: { id: "thr_1", participants: [] },
      recipient: { address: "a@b.test" },
      truncated: false,
    },
  });
});

Deno.test("eventBody() cuts each text at 16 KiB, on a code point", () => {
  const long = "é".repeat(10_000) + "😀".repeat(10_000);
  const { body } = bodyOf(restOf({ text: `a${long}`, extracted_text: "short" }), partsOf());
  const { text, html, extracted_text } = body.data.message;
  assert.equal(new TextEncoder().encode(text).length, 16 * 1024 - 1);
  assert.ok(`a${long}`.startsWith(text));
  assert.deepEqual([html, extracted_text, body.data.truncated], ["<p>Hi</p>", "short", true]);
  const exact = bodyOf(restOf({ text: "x".repeat(16 * 1024) }), partsOf()).body.data;
  assert.equal(exact.truncated, false);
});

Deno.test("eventBody() is within 96 KiB and valid, whatever strangers wrote", () => {
  const control = "\u0001".repeat(64 * 1024);
  const many = (length: number, value: unknown) => Array.from({ length }, () => value);
  const cases: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ text: control, html: control, extracted_text: control }, {}],
    [{ links: many(50, { url: "u".repeat(8_000), text: "t" }) }, {}],
    [{}, { references: many(2_000, "r".repeat(100)) }],
    [{}, { subject: control, preview: control }],
    [{ text: control, links: many(50, { url: control, text: control }) }, {
      subject: control,
      to: many(1_000, { name: control.slice(0, 300), address: "a@b.test" }),
    }],
  ];
  for (const [texts, fields] of cases) {
    const message = { id: "msg_1", parse_warnings: [], ...fields };
    const { size, body } = bodyOf(restOf(texts), partsOf({ message }));
    assert.ok(size <= MOST_BYTES, String(size));
    assert.equal(body.data.truncated, true);
    assert.equal(body.data.message.id, "msg_1");
  }
});

Deno.test("eventBody() tells of a message and a draft whose texts cannot be read", () => {
  const { data } = bodyOf(new Uint8Array(), partsOf({ draft: { id: "dft_1" } })).body;
  assert.deepEqual(data.message.parse_warnings, ["damaged"]);
  assert.deepEqual([data.message.text, data.message.links], [null, []]);
  assert.deepEqual(data.draft, { id: "dft_1", text: null, html: null });
});

Deno.test("eventBody() of a draft has its texts, and no message where there is none", () => {
  const draftTexts = bytesOf({ text: "Words", html: null, headers: [{ name: "X-A", value: "1" }] });
  const parts = partsOf({ message: null, thread: null, draft: { id: "dft_1" }, draftTexts });
  const { data } = bodyOf(new Uint8Array(), parts).body;
  assert.deepEqual(data, {
    draft: { id: "dft_1", text: "Words", html: null },
    truncated: false,
  });
});
