import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { z } from "@hono/zod-openapi";
import fc from "../../tests/support/seeded_fast_check.ts";
import type { Draft } from "../../server/mail/mailbox/shown/draft_schemas.ts";
import type { Message, Thread } from "../../server/mail/mailbox/shown/schemas.ts";
import type { EventType } from "../../server/mail/records/event_record.ts";
import type { MailDraft, MailEvent, MailMessage, MailThread } from "./mail_event.ts";
import { verifyWebhook, type WebhookHeaders, type WebhookOptions } from "./verify_webhook.ts";
import { WebhookError, type WebhookErrorCode } from "./webhook_error.ts";

const BASE64 = btoa("0123456789abcdefghijklmnopqrstuv");
const SECRET = `rmwh_${BASE64}`;
const OTHER = `rmwh_${btoa("another secret of thirty-two by.")}`;
const NOW_MS = 1_760_000_000_999;
const ID = "evt_01JZZZZZZZZZZZZZZZZZZZZZZZ";
const EVENT = {
  id: ID,
  type: "webhook.test",
  timestamp: "2025-10-09T08:53:20.000Z",
  org_id: "org_1",
  inbox_id: null,
  data: {},
};
const BODY = JSON.stringify(EVENT);

/** As the official library signs it. */
function signed(body: string, { secret = BASE64, atMs = NOW_MS, id = ID } = {}) {
  const seconds = Math.floor(atMs / 1000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": new Webhook(secret).sign(id, new Date(seconds * 1000), body),
  };
}

function verify(
  headers: WebhookHeaders,
  body: Uint8Array | ArrayBuffer | string = BODY,
  { secret = SECRET as string | string[], ...options }: WebhookOptions & {
    secret?: string | string[];
  } = {},
) {
  return verifyWebhook(secret, headers, body, { nowMs: NOW_MS, ...options });
}

function assertRefused(code: WebhookErrorCode, run: () => unknown) {
  assert.throws(run, (thrown: unknown) => {
    assert.ok(thrown instanceof WebhookError);
    assert.equal(thrown.name, "WebhookError");
    assert.equal(thrown.code, code);
    assert.ok(!thrown.message.includes(BASE64));
    return true;
  });
}

Deno.test("verifyWebhook() gives the event of what the official library signed", () => {
  const headers = signed(BODY);
  const bytes = new TextEncoder().encode(BODY);
  for (const body of [BODY, bytes, bytes.buffer]) assert.deepEqual(verify(headers, body), EVENT);
  for (const secret of [SECRET, BASE64, `whsec_${BASE64}`, ` ${SECRET}\n`]) {
    assert.deepEqual(verify(headers, BODY, { secret }), EVENT);
  }
});

Deno.test("verifyWebhook() takes headers in every form that platforms give them in", () => {
  const lower = signed(BODY);
  const title = {
    "Webhook-Id": lower["webhook-id"],
    "WEBHOOK-TIMESTAMP": lower["webhook-timestamp"],
    "Webhook-Signature": lower["webhook-signature"],
  };
  const lists = Object.fromEntries(Object.entries(title).map(([name, value]) => [name, [value]]));
  // A plain object whose method is its own, as Headers of other makers.
  const foreign = { get: (name: string) => new Headers(lower).get(name) };
  const forms: WebhookHeaders[] = [
    lower,
    title,
    lists,
    { ...lower, "content-length": undefined },
    new Headers(lower),
    new Map(Object.entries(title)),
    foreign,
  ];
  for (const headers of forms) assert.deepEqual(verify(headers), EVENT);
});

Deno.test("verifyWebhook() takes one good signature among several, by one of several secrets", () => {
  const headers = signed(BODY);
  const good = headers["webhook-signature"];
  const foreign = signed(BODY, { secret: OTHER.slice(5) })["webhook-signature"];
  const apart = [[foreign, good], [`v2,${good.slice(3)}`, good]];
  const texts = [
    `${foreign} ${good}`,
    `${good} ${foreign}`,
    `v1a,AAAA v2,x ${good}`,
    // As proxies and Headers write two headers of one name.
    `${foreign}, ${good}`,
    `nonsense  ${good}`,
  ];
  for (const value of [...texts, ...apart]) {
    assert.deepEqual(verify({ ...headers, "webhook-signature": value }), EVENT);
  }
  const twice = new Headers({ ...headers, "webhook-signature": foreign });
  twice.append("webhook-signature", good);
  assert.deepEqual(verify(twice), EVENT);
  assert.deepEqual(verify(headers, BODY, { secret: [OTHER, SECRET] }), EVENT);
  assertRefused("no_match", () => verify(headers, BODY, { secret: [OTHER] }));
  for (const value of [foreign, `v2,${good.slice(3)}`, good.slice(3), good.slice(0, -1), "v1,"]) {
    assertRefused("no_match", () => verify({ ...headers, "webhook-signature": value }));
  }
});

Deno.test("verifyWebhook() refuses what is missing, and a time that is none or too far away", () => {
  const headers = signed(BODY);
  for (const name of Object.keys(headers)) {
    assertRefused("missing_header", () => verify({ ...headers, [name]: undefined }));
    assertRefused("missing_header", () => verify({ ...headers, [name]: "" }));
  }
  assertRefused("missing_header", () => verify(new Headers()));
  for (const value of ["", "now", "1760000000.0", "-1", "+1760000000", "1e9", "9".repeat(13)]) {
    const code = value === "" ? "missing_header" : "bad_timestamp";
    assertRefused(code, () => verify({ ...headers, "webhook-timestamp": value }));
  }
  const seconds = Math.floor(NOW_MS / 1000) * 1000;
  const at = (nowMs: number, toleranceSeconds?: number) => () =>
    verify(headers, BODY, { nowMs, toleranceSeconds });
  assert.deepEqual(at(seconds + 300_000)(), EVENT);
  assert.deepEqual(at(seconds - 300_000)(), EVENT);
  assertRefused("too_old", at(seconds + 300_001));
  assertRefused("too_new", at(seconds - 300_001));
  assert.deepEqual(at(seconds + 9_000, 9)(), EVENT);
  assertRefused("too_old", at(seconds + 9_001, 9));
  assert.deepEqual(at(seconds + 10 ** 9, Infinity)(), EVENT);
  assertRefused("too_old", at(NaN));
  assertRefused("too_old", at(seconds, NaN));
  assert.deepEqual(verifyWebhook(SECRET, signed(BODY, { atMs: Date.now() }), BODY), EVENT);
  assertRefused("too_old", () => verifyWebhook(SECRET, headers, BODY));
});

Deno.test("verifyWebhook() refuses secrets that are none, and bodies that were parsed", () => {
  const headers = signed(BODY);
  const bad = ["", "rmwh_", "rmwh_short", `rmwh_whsec_${BASE64}`, btoa("x".repeat(23)), "ä"];
  for (const secret of [...bad, [], [SECRET, ""]]) {
    assertRefused("bad_secret", () => verify(headers, BODY, { secret }));
  }
  for (const body of [EVENT, null, 5, [1]]) {
    assert.throws(() => verify(headers, body as unknown as string), TypeError);
  }
});

Deno.test("verifyWebhook() tells what is signed and no event, bytes that are not UTF-8 too", () => {
  const bodies = ["", "null", "[]", "{}", BODY.slice(1), "\ufeff" + BODY, '{"id":1,"type":"x"}'];
  for (const body of bodies) assertRefused("bad_json", () => verify(signed(body), body));
  // The official library signs text; that text's bytes end as another's do.
  const bytes = new Uint8Array([0x22, 0xff, 0xfe, 0x22]);
  const key = Uint8Array.from(atob(BASE64), (c) => c.charCodeAt(0));
  const headers = { ...signed(BODY), "webhook-signature": hmacOf(key, bytes) };
  assertRefused("bad_json", () => verify(headers, bytes));
  assertRefused("no_match", () => verify(headers, new TextDecoder().decode(bytes)));
});

/** By Node's own implementation. */
function hmacOf(key: Uint8Array, body: Uint8Array): string {
  const hmac = createHmac("sha256", key).update(`${ID}.${Math.floor(NOW_MS / 1000)}.`);
  return `v1,${hmac.update(body).digest("base64")}`;
}

Deno.test("verifyWebhook() agrees with the official library on any event", () => {
  const key = fc.uint8Array({ minLength: 24, maxLength: 64 });
  fc.assert(fc.property(key, fc.json(), fc.string(), (bytes, data, note) => {
    const secret = btoa(String.fromCharCode(...bytes));
    const body = JSON.stringify({ ...EVENT, data: { any: JSON.parse(data), note } });
    const headers = signed(body, { secret, atMs: Date.now() });
    const options = { secret: `rmwh_${secret}`, nowMs: Date.now() };
    assert.deepEqual(verify(headers, body, options), new Webhook(secret).verify(body, headers));
  }));
});

Deno.test("verifyWebhook() refuses each change of one bit, and throws nothing but its errors", () => {
  const bytes = new TextEncoder().encode(BODY);
  const headers = signed(BODY);
  fc.assert(fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
    const changed = bytes.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assertRefused("no_match", () => verify(headers, changed));
  }));
  const name = fc.constantFrom(...Object.keys(headers));
  fc.assert(fc.property(name, fc.string(), (changed, value) => {
    try {
      verify({ ...headers, [changed]: value });
      // A signature may stand between others' spaces.
      assert.equal(value.trim(), headers[changed as keyof typeof headers]);
    } catch (thrown) {
      assert.ok(thrown instanceof WebhookError, String(thrown));
    }
  }));
});

type Is<Wide, Narrow extends Wide> = [Wide, Narrow];
type ShownMessage = Omit<z.infer<typeof Message>, "headers">;
type ShownThread = z.infer<typeof Thread>;
type ShownDraft = Omit<z.infer<typeof Draft>, "headers">;

/** For the type checker: what events have is what the API shows, member by member. */
export type EventsAreAsShown = [
  Is<MailMessage, ShownMessage>,
  Is<MailThread, ShownThread>,
  Is<MailDraft, ShownDraft>,
  Is<keyof ShownMessage, keyof MailMessage>,
  Is<keyof ShownThread, keyof MailThread>,
  Is<keyof ShownDraft, keyof MailDraft>,
  Is<MailEvent["type"], EventType>,
  Is<EventType, MailEvent["type"]>,
];
