import { toEnd } from "../../../base/slices/sliced.ts";
import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../base/config/limits.ts";
import { readSendBody, type SendBodyKind } from "./read_send_body.ts";

const context = { limits: DEFAULT_LIMITS, nowMs: Date.UTC(2026, 10, 22, 12) };
const read = (kind: SendBodyKind, body: string, wantsFingerprint = false) =>
  toEnd(readSendBody(kind, new TextEncoder().encode(body), context, wantsFingerprint));

Deno.test("readSendBody() gives what each kind of request asks for, as plain data", () => {
  const bodies: [SendBodyKind, string][] = [
    ["send", '{"to":"a@example.org","text":"x"}'],
    ["reply", '{"text":"x"}'],
    ["forward", '{"to":"a@example.org"}'],
    ["draft", "{}"],
    ["draft_changes", '{"subject":null}'],
  ];
  assert.equal(bodies.length, 5);
  for (const [kind, body] of bodies) {
    const outcome = read(kind, body);
    assert("request" in outcome, kind);
    assert.equal(outcome.fingerprint, null);
    assert.deepEqual(structuredClone(outcome), outcome);
  }
});

Deno.test("readSendBody() gives the same fingerprint for the same JSON", () => {
  const outcomes = [
    '{"to":"a@example.org","text":"x"}',
    '{ "text":"\\u0078", "to":"a@example.org" }',
  ]
    .map((body) => read("send", body, true));
  assert(
    outcomes.every((outcome) => "request" in outcome && /^[\w-]{43}$/.test(outcome.fingerprint!)),
  );
  assert.deepEqual(outcomes[0], outcomes[1]);
});

Deno.test("readSendBody() gives refusals as data", () => {
  const cases: [SendBodyKind, string, string][] = [
    ["send", "", "invalid_json"],
    ["send", "[]", "invalid_json"],
    ["send", '{"to":"a@example.org","to":"b@example.org","text":"x"}', "invalid_json"],
    ["send", '{"to":"a@example.org","text":"\\ud800"}', "invalid_json"],
    ["send", '{"to":"a","text":"x"}', "invalid_email"],
    ["reply", `{"text":"${"x".repeat(2 ** 20 + 1)}"}`, "payload_too_large"],
    ["draft_changes", '{"a":1}', "invalid_json"],
  ];
  assert.equal(cases.length, 7);
  for (const [kind, body, code] of cases) {
    const outcome = read(kind, body);
    assert("refused" in outcome);
    assert.equal(outcome.refused.code, code);
    assert.deepEqual(structuredClone(outcome), outcome);
  }
});
