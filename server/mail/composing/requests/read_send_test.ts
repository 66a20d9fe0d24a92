// Over 300 lines: two tables of every accepted and every refused form of a request to send.
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../../toolkit/json_value.ts";
import { RelayError } from "../../../base/errors.ts";
import { DAY_MS } from "../../../base/time/time_units.ts";
import { readForward } from "./read_forward.ts";
import { readReply } from "./read_reply.ts";
import { readSend, type SendRequest } from "./read_send.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const limits = {
  mailRecipientsPerMessage: 50,
  mailBodyBytes: 1024 * 1024,
  mailAttachments: 20,
  mailRequestBytes: 10 * 1024 * 1024,
};
const context = { limits, nowMs: NOW_MS };
const MINIMAL = { to: "ann@example.org", text: "Hello" };
const at = (aheadMs: number) => new Date(NOW_MS + aheadMs).toISOString();
const send = (fields: JsonObject) => readSend({ ...MINIMAL, ...fields }, context);

const bare = (address: string) => ({ name: null, address });
const many = (count: number) => Array.from({ length: count }, (_, n) => `a${n}@example.org`);
const file = (fields: JsonObject = {}) => ({
  filename: "a.txt",
  content_type: "text/plain",
  content: "aGk=",
  ...fields,
});

const accepted: [name: string, fields: JsonObject, expected: Partial<SendRequest>][] = [
  ["nothing more", {}, {
    to: [bare("ann@example.org")],
    cc: [],
    bcc: [],
    subject: null,
    text: "Hello",
    html: null,
    attachments: [],
    replyTo: [],
    headers: [],
    labels: [],
    sendAtMs: null,
  }],
  ["null for all that is optional", {
    cc: null,
    bcc: null,
    subject: null,
    html: null,
    attachments: null,
    headers: null,
    reply_to: null,
    labels: null,
    send_at: null,
  }, { subject: null, html: null }],
  ["fields that it does not know", { priority: "high", from: "boss@example.org" }, {}],
  ["one address as an object", { to: { address: "ann@example.org", name: " Ann " } }, {
    to: [{ name: "Ann", address: "ann@example.org" }],
  }],
  ["an object without a name, or an empty one", {
    to: [{ address: "a@example.org" }, { address: "b@example.org", name: null }, {
      address: "c@example.org",
      name: "",
    }],
  }, { to: ["a", "b", "c"].map((name) => bare(`${name}@example.org`)) }],
  ["addresses as given", { to: "Ann+Tag@Example.ORG" }, { to: [bare("Ann+Tag@Example.ORG")] }],
  ["names of other alphabets as A-labels", { to: "ann@jõgeva.ee" }, {
    to: [bare("ann@xn--jgeva-dua.ee")],
  }],
  ["a duplicate at its first place", {
    to: ["a@example.org", "A@EXAMPLE.org"],
    cc: ["b@example.org", "a@example.org"],
    bcc: ["b@example.org", "c@example.org"],
  }, { to: [bare("a@example.org")], cc: [bare("b@example.org")], bcc: [bare("c@example.org")] }],
  ["50 addresses, each twice", { to: [...many(50), ...many(50)] }, {
    to: many(50).map(bare),
  }],
  ["html alone", { text: null, html: "<p>" }, { text: null, html: "<p>" }],
  ["an empty text beside html", { text: "", html: "<p>" }, { text: null, html: "<p>" }],
  ["a text of any characters but NUL", { text: "\u0001\r\u2028\ud83d\ude00" }, {
    text: "\u0001\r\u2028\ud83d\ude00",
  }],
  ["1 MiB of both bodies", { text: "é".repeat(2 ** 18), html: "x".repeat(2 ** 19) }, {}],
  ["a subject of 998 characters", { subject: "😀".repeat(998) }, { subject: "😀".repeat(998) }],
  ["an empty subject", { subject: " " }, { subject: null }],
  ["five addresses for answers", { reply_to: many(5) }, { replyTo: many(5).map(bare) }],
  ["one address for answers", { reply_to: "a@example.org" }, { replyTo: [bare("a@example.org")] }],
  ["own headers", { headers: { "X-A": "b ", [`X-${"a".repeat(74)}`]: "" } }, {
    headers: [{ name: "X-A", value: "b" }, { name: `X-${"a".repeat(74)}`, value: "" }],
  }],
  ["labels, each once", { labels: ["b", "a", "b"] }, { labels: ["b", "a"] }],
  ["30 seconds ahead", { send_at: at(30_000) }, { sendAtMs: NOW_MS + 30_000 }],
  ["30 days ahead", { send_at: at(30 * DAY_MS) }, { sendAtMs: NOW_MS + 30 * DAY_MS }],
  ["an attachment", { attachments: [file()] }, {
    attachments: [{
      filename: "a.txt",
      contentType: "text/plain",
      contentId: null,
      content: new TextEncoder().encode("hi"),
    }],
  }],
  ["base64 with white space, and nothing at all", {
    attachments: [
      file({ content: "\t a\nG\r\nk\f= " }),
      file({ content: "" }),
      file({ content: "////" }),
    ],
  }, {
    attachments: [[104, 105], [], [255, 255, 255]].map((bytes) => ({
      filename: "a.txt",
      contentType: "text/plain",
      contentId: null,
      content: new Uint8Array(bytes),
    })),
  }],
  ["a type with its charset, a file name of 255, a content id", {
    attachments: [
      file({
        filename: "ü".repeat(255),
        content_type: "Text/CSV; charset=UTF-8",
        content_id: "logo.1@example",
      }),
    ],
  }, {
    attachments: [{
      filename: "ü".repeat(255),
      contentType: "text/csv; charset=utf-8",
      contentId: "logo.1@example",
      content: new TextEncoder().encode("hi"),
    }],
  }],
];

for (const [name, fields, expected] of accepted) {
  Deno.test(`readSend() accepts ${name}`, () => {
    const request = send(fields);
    assert.deepEqual({ ...request, ...expected }, request);
  });
}

type Refusal = [field: string, value: JsonValue, code: string, says: RegExp];
const refused: Refusal[] = [
  ["to", null, "invalid_json", /^to is required/],
  ["to", [], "invalid_json", /^to is required/],
  ["to", 5, "invalid_json", /^to must be an address/],
  ["to", [["a@example.org"]], "invalid_json", /^to\[0\] must be an address/],
  ["to", ["a@example.org", null], "invalid_json", /^to\[1\] must be an address/],
  ["to", "", "invalid_email", /^to must be one address/],
  ["to", "Ann <ann@example.org>", "invalid_email", /^to must be a bare address.*"name": /],
  ["to", ["a@example.org", "<b@example.org>"], "invalid_email", /^to\[1\] must be a bare address/],
  ["to", "a@example.org, b@example.org", "invalid_email", /^to must be one address/],
  ["to", " a@example.org", "invalid_email", /^to must be one address/],
  ["to", "a@example.org\r\nBcc: b@example.org", "invalid_email", /^to must be one address/],
  ["to", '"a b"@example.org', "invalid_email", /^to must be one address/],
  ["to", "a@[127.0.0.1]", "invalid_email", /^to must be one address/],
  ["to", "a@127.0.0.1", "invalid_email", /^to must be one address/],
  ["to", "ü@example.org", "invalid_email", /^to must be one address/],
  ["to", `${"a".repeat(65)}@example.org`, "invalid_email", /^to must be one address/],
  ["to", "a@localhost", "invalid_email", /^to must be one address/],
  ["to", { name: "Ann" }, "invalid_json", /^to\.address must be a string/],
  ["to", [{ address: "Ann <a@example.org>" }], "invalid_email", /^to\[0\]\.address must be one/],
  ["to", { address: "a@example.org", name: 5 }, "invalid_json", /^to\.name must be a string/],
  ["to", { address: "a@example.org", name: "a\nb" }, "invalid_json", /^to\.name must not hold/],
  ["to", { address: "a@example.org", name: "a\u2028b" }, "invalid_json", /^to\.name must not/],
  ["to", { address: "a@example.org", name: "\ud800" }, "invalid_json", /^to\.name must not hold l/],
  ["to", { address: "a@example.org", name: "a".repeat(101) }, "invalid_json", /^to\.name .*100/],
  ["cc", "x", "invalid_email", /^cc must be one address/],
  ["bcc", ["x"], "invalid_email", /^bcc\[0\] must be one address/],
  ["cc", many(50), "invalid_json", /^to, cc and bcc must hold at most 50 .*not 51/],
  ["bcc", many(50), "invalid_json", /^to, cc and bcc must hold at most 50/],
  ["to", Array(1001).fill("a@example.org"), "invalid_json", /^to must hold at most 1000/],
  ["reply_to", many(6), "invalid_json", /^reply_to must hold at most 5/],
  ["reply_to", ["x"], "invalid_email", /^reply_to\[0\]/],
  ["text", "", "invalid_json", /^at least one of text and html/],
  ["text", null, "invalid_json", /^at least one of text and html/],
  ["text", 5, "invalid_json", /^text must be a string/],
  ["text", { path: "/etc/passwd" }, "invalid_json", /^text must be a string/],
  ["html", { href: "http://127.0.0.1/" }, "invalid_json", /^html must be a string/],
  ["html", ["<p>"], "invalid_json", /^html must be a string/],
  ["text", "a\0", "invalid_json", /^text must not hold the character NUL/],
  ["html", "\0", "invalid_json", /^html must not hold the character NUL/],
  ["text", "\ud800", "invalid_json", /^text must not hold lone surrogates/],
  ["html", "x".repeat(2 ** 20 - 4), "payload_too_large", /^text and html are 1048577 bytes/],
  ["text", "é".repeat(2 ** 19 + 1), "payload_too_large", /^text and html are 1048578 bytes/],
  ["subject", 5, "invalid_json", /^subject must be a string/],
  ["subject", "a".repeat(999), "invalid_json", /^subject .*998/],
  ["subject", "a\r\nBcc: b@example.org", "invalid_json", /^subject must not hold control/],
  ["subject", "a\u0085b", "invalid_json", /^subject must not hold control/],
  ["subject", "a\u2029b", "invalid_json", /^subject must not hold control/],
  ["subject", "a\0b", "invalid_json", /^subject must not hold control/],
  ["subject", "\udc00", "invalid_json", /^subject must not hold lone surrogates/],
  ["headers", [], "invalid_json", /^headers must be an object/],
  ["headers", "X-A: b", "invalid_json", /^headers must be an object/],
  ["headers", { Bcc: "a@example.org" }, "invalid_json", /^headers: the name of number 1/],
  ["headers", { "X-A": "b", "x-b": "c" }, "invalid_json", /^headers: the name of number 2/],
  ["headers", { "X-Relay-Id": "a" }, "invalid_json", /X-Relay-/],
  ["headers", { "X-RELAY-ID": "a" }, "invalid_json", /X-Relay-/],
  ["headers", { "X-A:": "b" }, "invalid_json", /^headers: the name of number 1/],
  ["headers", { "X-A\r\nBcc": "b" }, "invalid_json", /^headers: the name of number 1/],
  ["headers", { "X-": "b" }, "invalid_json", /^headers: the name of number 1/],
  ["headers", { [`X-${"a".repeat(75)}`]: "b" }, "invalid_json", /^headers: the name of/],
  ["headers", { "X-A": "b\r\nBcc: c" }, "invalid_json", /^headers\.X-A must not hold control/],
  ["headers", { "X-A": "\ud800" }, "invalid_json", /^headers\.X-A must not hold lone/],
  ["headers", { "X-A": "a".repeat(999) }, "invalid_json", /^headers\.X-A .*998/],
  ["headers", { "X-A": ["b"] }, "invalid_json", /^headers\.X-A must be a string/],
  ["headers", { "X-A": { prepared: true, value: "b\r\nBcc: c" } }, "invalid_json", /be a string/],
  [
    "headers",
    Object.fromEntries(many(21).map((_, n) => [`X-${n}`, ""])),
    "invalid_json",
    /^headers must hold at most 20/,
  ],
  ["labels", "a", "invalid_json", /^labels must be an array/],
  ["labels", ["a", "B"], "invalid_json", /^labels\[1\] must be 1 to 32/],
  ["labels", [5], "invalid_json", /^labels\[0\]/],
  ["labels", ["a".repeat(33)], "invalid_json", /^labels\[0\]/],
  ["labels", many(21).map((_, n) => `l${n}`), "invalid_json", /^labels must hold at most 20/],
  ["send_at", "tomorrow", "invalid_json", /^send_at must be a time/],
  ["send_at", NOW_MS + 60_000, "invalid_json", /^send_at must be a time/],
  ["send_at", at(29_999), "invalid_json", /^send_at must be 30 seconds to 30 days ahead/],
  ["send_at", at(-60_000), "invalid_json", /^send_at must be 30 seconds to 30 days ahead/],
  ["send_at", at(30 * DAY_MS + 1), "invalid_json", /^send_at must be 30 seconds/],
  ["attachments", {}, "invalid_json", /^attachments must be an array/],
  ["attachments", Array(21).fill(file()), "invalid_json", /^attachments must hold at most 20/],
  ["attachments", ["x"], "invalid_json", /^attachments\[0\] must be an object/],
  ["attachments", [file(), null], "invalid_json", /^attachments\[1\] must be an object/],
  ["attachments", [{ path: "/etc/passwd" }], "invalid_json", /^attachments\[0\]\.filename/],
  ...([
    ["filename", ""],
    ["filename", " "],
    ["filename", null],
    ["filename", "a/b"],
    ["filename", "a\\b"],
    ["filename", "a\r\nb"],
    ["filename", "a\u2028b"],
    ["filename", "a\u202eb"],
    ["filename", "\ud800"],
    ["filename", "a".repeat(256)],
    ["filename", "=?utf-8?Q?a=0D=0Ab?="],
    ["filename", { path: "/etc/passwd" }],
    ["content_type", null],
    ["content_type", "text"],
    ["content_type", "text/plain\r\nBcc: a"],
    ["content_type", "text/plain; name=evil.exe"],
    ["content_type", "text/plain; charset=utf-8; boundary=x"],
    ["content_type", `text/${"a".repeat(123)}`],
    ["content_type", "multipart/mixed"],
    ["content_type", "Multipart/Mixed; boundary=x"],
    ["content_type", "message/rfc822"],
    ["content_type", "MESSAGE/delivery-status"],
    ["content_id", ""],
    ["content_id", "a b"],
    ["content_id", "<a>"],
    ["content_id", "a\r\nBcc: b"],
    ["content_id", "a\u2028"],
    ["content_id", "ü"],
    ["content_id", "a".repeat(251)],
    ["content_id", 5],
    ["content", null],
    ["content", { path: "/etc/passwd" }],
    ["content", { href: "http://127.0.0.1/" }],
    ["content", { raw: "x" }],
    ["content", [104, 105]],
    ["content", "aGk"],
    ["content", "aGk=="],
    ["content", "a==="],
    ["content", "===="],
    ["content", "aGl="],
    ["content", "aR=="],
    ["content", "aGk=aGk="],
    ["content", "aGk_"],
    ["content", "aG-k"],
    ["content", "aGk\u00a0="],
    ["content", "aGk\0"],
    ["content", "data:text/plain;base64,aGk="],
  ] as [string, JsonValue][]).map(([name, value]): Refusal => [
    "attachments",
    [file(), file({ [name]: value })],
    "invalid_json",
    new RegExp(`^attachments\\[1\\]\\.${name} must `),
  ]),
];

for (const [index, [field, value, code, says]] of refused.entries()) {
  const shown = JSON.stringify(value).slice(0, 60);
  Deno.test(`readSend() refuses ${field}: ${shown} (${index})`, () => {
    assert.throws(
      () => send({ [field]: value }),
      (error) => {
        assert(error instanceof RelayError);
        assert.equal(error.code, code);
        assert.match(error.message, says);
        return true;
      },
    );
  });
}

Deno.test("readSend() tells of large bodies before anything else", () => {
  assert.throws(
    () => readSend({ to: 5, text: "x".repeat(2 ** 20 + 1), labels: 5 }, context),
    { code: "payload_too_large" },
  );
});

Deno.test("readSend() names no e-mail address in a refusal", () => {
  for (const to of ["secret@person", "Secret <secret@person.org>", ["secret@person.org", 5]]) {
    assert.throws(() => send({ to }), (error) => !/secret/i.test((error as Error).message));
  }
});

Deno.test("readReply() reads text, html, attachments and reply_all", () => {
  assert.deepEqual(readReply({ text: "a", subject: "ignored", to: 5 }, limits), {
    text: "a",
    html: null,
    replyAll: false,
    attachments: [],
  });
  const full = readReply({ html: "<p>", reply_all: true, attachments: [file()] }, limits);
  assert.equal(full.replyAll, true);
  assert.equal(full.attachments.length, 1);
  const refusedReplies: JsonObject[] = [{}, { text: "" }, { text: "a", reply_all: "yes" }, {
    text: 5,
  }];
  for (const request of refusedReplies) {
    assert.throws(() => readReply(request, limits), { code: "invalid_json" });
  }
  assert.throws(() => readReply({ text: "a", attachments: [5] }, limits), {
    code: "invalid_json",
    message: /^attachments\[0\]/,
  });
});

Deno.test("readForward() reads recipients and text", () => {
  assert.deepEqual(readForward({ to: "a@example.org", html: 5 }, limits), {
    to: [bare("a@example.org")],
    cc: [],
    bcc: [],
    text: null,
  });
  const { cc, text } = readForward(
    { to: "a@example.org", cc: ["a@example.org", "b@example.org"], text: "see" },
    limits,
  );
  assert.deepEqual(cc, [bare("b@example.org")]);
  assert.equal(text, "see");
  assert.throws(() => readForward({ text: "a" }, limits), { code: "invalid_json" });
  assert.throws(() => readForward({ to: "a" }, limits), { code: "invalid_email" });
  assert.throws(() => readForward({ to: "a@example.org", text: 5 }, limits), {
    code: "invalid_json",
  });
});
