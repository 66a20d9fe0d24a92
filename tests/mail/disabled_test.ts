/** The paths of the mail area while it is off. */
import assert from "node:assert/strict";
import { ask, assertRefused } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";

/** Methods and paths of the specification, 4.7, with ids filled in. */
const SPECIFIED = `
POST /v1/mail/agents/register
POST /v1/mail/agents/register-trial
GET /v1/mail/org
POST /v1/mail/org/google
POST /v1/mail/org/attach
POST /v1/mail/org/magic
GET /v1/mail/org/magic/confirm
POST /v1/mail/org/claim
GET /v1/mail/org/claim/confirm
POST /v1/mail/inboxes
GET /v1/mail/inboxes
POST /v1/mail/inboxes/ibx_1/messages/send
GET /v1/mail/inboxes/ibx_1/messages
GET /v1/mail/messages/msg_1
POST /v1/mail/messages/msg_1/reply
GET /v1/mail/inboxes/ibx_1/threads
GET /v1/mail/threads/thr_1
GET /v1/mail/search
GET /v1/mail/usage
GET /v1/mail/delivery-health
GET /v1/mail/activity
POST /v1/mail/inboxes/ibx_1/drafts
GET /v1/mail/inboxes/ibx_1/drafts
POST /v1/mail/drafts/dft_1/send
POST /v1/mail/api-keys
GET /v1/mail/api-keys
DELETE /v1/mail/api-keys/key_1
POST /v1/mail/webhooks
GET /v1/mail/webhooks
DELETE /v1/mail/webhooks/wh_1
POST /mcp/mail`;

/** What the mail area adds to them. */
const ADDED = `
GET /v1/mail/inboxes/ibx_1
PATCH /v1/mail/inboxes/ibx_1
DELETE /v1/mail/inboxes/ibx_1
PATCH /v1/mail/messages/msg_1
DELETE /v1/mail/messages/msg_1
GET /v1/mail/messages/msg_1/raw
GET /v1/mail/messages/msg_1/attachments/att_0
PATCH /v1/mail/threads/thr_1
GET /v1/mail/drafts/dft_1
PATCH /v1/mail/drafts/dft_1
DELETE /v1/mail/drafts/dft_1
GET /v1/mail/api-keys/key_1
GET /v1/mail/webhooks/wh_1
PATCH /v1/mail/webhooks/wh_1
POST /v1/mail/webhooks/wh_1/rotate
POST /v1/mail/webhooks/wh_1/test
GET /v1/mail/webhooks/wh_1/deliveries
POST /v1/mail/webhooks/wh_1/deliveries/dlv_1/redeliver
GET /v1/mail/suppressions
DELETE /v1/mail/suppressions/a%40example.org
POST /v1/mail/org/magic/confirm
POST /v1/mail/org/claim/confirm
DELETE /v1/mail/org
DELETE /v1/mail/org/google
POST /v1/mail/messages/msg_1/forward
POST /v1/mail/messages/msg_1/cancel
POST /v1/mail/inbound/raw
POST /v1/mail/events
POST /v1/admin/mail/orgs/org_1/suspend
POST /v1/admin/mail/orgs/org_1/unsuspend
GET /mail/drafts/dft_1
POST /mail/drafts/dft_1`;

const ROUTES = (SPECIFIED + ADDED).trim().split("\n").map((line) => line.split(" "));
const CREDENTIALS = { Authorization: "Bearer rm_sk_any", "Content-Type": "application/json" };

Deno.test("every path of the mail area answers 503 mail_disabled, whatever is sent", async () => {
  assert.equal(ROUTES.length, 31 + 32);
  await using relay = await startTestRelay();
  for (const [method, path] of ROUTES as [string, string][]) {
    const bodies = method === "GET" ? [undefined] : ["", "{", "{}", "x".repeat(300_000)];
    for (const body of bodies) {
      const answer = await ask(`${relay.url}${path}`, { method, headers: CREDENTIALS, body });
      assertRefused(answer, "mail_disabled");
      assert.equal(answer.status, 503);
      assertRefused(await ask(`${relay.url}${path}`, { method, body }), "mail_disabled");
    }
    if (method !== "GET") continue;
    const head = await ask(`${relay.url}${path}?q=x`, { method: "HEAD" });
    assert.deepEqual([head.status, head.text], [503, ""]);
  }
});

Deno.test("wrong methods of mail paths are 405, OPTIONS 204, unknown paths 404", async () => {
  await using relay = await startTestRelay();
  const methods = new Map<string, string[]>();
  for (const [method, path] of ROUTES as [string, string][]) {
    methods.set(path, [...methods.get(path) ?? [], method]);
  }
  for (const [path, known] of methods) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      if (known.includes(method)) continue;
      const answer = await ask(`${relay.url}${path}`, { method });
      assertRefused(answer, "method_not_allowed");
      const allowed = answer.headers.get("allow")!.split(", ").sort();
      const expected = [...known, ...(known.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
      assert.deepEqual(allowed, expected.sort(), path);
    }
    const options = await ask(`${relay.url}${path}`, { method: "OPTIONS" });
    assert.equal(options.status, 204);
    const open = path.startsWith("/v1/mail/") ? "*" : null;
    assert.equal(options.headers.get("access-control-allow-origin"), open, path);
  }
  for (
    const path of [
      "/v1/mail",
      "/v1/mail/",
      "/v1/mail/nothing",
      "/v1/mail/inboxes/",
      "/v1/mail/inboxes/ibx_1/",
      "/v1/mail/org/",
      "/mcp/mail/",
      "/v1/mail/webhooks/wh_1/deliveries/dlv_1",
    ]
  ) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      assertRefused(await ask(`${relay.url}${path}`, { method }), "not_found");
    }
  }
});
