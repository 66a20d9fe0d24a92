import { CONSOLE_ROUTES } from "../../../server/web/console/part.ts";
import assert from "node:assert/strict";
import { startTestRelay } from "../../support/relay.ts";
import { describedRoutes, readDocument } from "./read_document.ts";

/** Routes of the specification, each with its section (4.1 to 4.7); all others are additions. */
const SPECIFIED = `
GET /health; GET /health/db; GET /v1/stats; GET /v1/feed; GET /v1/leaderboard
POST /v1/register; GET /v1/whoami; GET /v1/agents/{identifier}; GET /v1/agents; PATCH /v1/agents/me
POST /v1/keys/export; GET /v1/notifications/unsubscribe
POST /v1/messages; GET /v1/inbox; GET /v1/outbox; POST /v1/admin/ban; POST /v1/admin/unban; POST /mcp
POST /v1/mail/agents/register; POST /v1/mail/agents/register-trial; GET /v1/mail/org
POST /v1/mail/org/google; POST /v1/mail/org/attach; POST /v1/mail/org/magic
GET /v1/mail/org/magic/confirm; POST /v1/mail/org/claim; GET /v1/mail/org/claim/confirm
POST /v1/mail/inboxes; GET /v1/mail/inboxes; POST /v1/mail/inboxes/{id}/messages/send
GET /v1/mail/inboxes/{id}/messages; GET /v1/mail/messages/{id}; POST /v1/mail/messages/{id}/reply
GET /v1/mail/inboxes/{id}/threads; GET /v1/mail/threads/{id}; GET /v1/mail/search
GET /v1/mail/usage; GET /v1/mail/delivery-health; GET /v1/mail/activity
POST /v1/mail/inboxes/{id}/drafts; GET /v1/mail/inboxes/{id}/drafts; POST /v1/mail/drafts/{id}/send
POST /v1/mail/api-keys; GET /v1/mail/api-keys; DELETE /v1/mail/api-keys/{id}
POST /v1/mail/webhooks; GET /v1/mail/webhooks; DELETE /v1/mail/webhooks/{id}; POST /mcp/mail
`.split(/[;\n]/).map((line) => line.trim()).filter((line) => line !== "");

/** Pages with sessions of their own are no part of the API. */
const PAGES = new Set(CONSOLE_ROUTES.map(({ method, path }) => `${method} ${path}`));

Deno.test("every route of a relay is described, and every described one is there", async () => {
  await using relay = await startTestRelay();
  const mounted = relay.relay.app.routes.map(({ method, path }) =>
    `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`
  ).filter((name) => !PAGES.has(name) && !/ \/(?:admin|inbox)(\/|$)/.test(name));
  const described = describedRoutes(await readDocument(relay)).map(({ name }) => name);
  assert.deepEqual(described.toSorted(), mounted.toSorted());
});

Deno.test("x-addition marks the routes that the specification does not have, and no other", async () => {
  await using relay = await startTestRelay();
  const routes = describedRoutes(await readDocument(relay));
  const unmarked = routes.filter(({ operation }) => operation["x-addition"] !== true);
  assert.deepEqual(unmarked.map(({ name }) => name).toSorted(), SPECIFIED.toSorted());
  for (const { operation } of routes) {
    assert.ok([undefined, true].includes(operation["x-addition"]));
  }
});

Deno.test("x-addition marks the added parameters, headers and errors", async () => {
  await using relay = await startTestRelay();
  const { paths, components } = await readDocument(relay);
  const inbox = paths["/v1/inbox"].get.parameters;
  // deno-lint-ignore no-explicit-any -- a JSON document
  const added = inbox.filter(({ schema }: any) => schema["x-addition"] === true);
  // deno-lint-ignore no-explicit-any -- a JSON document
  assert.deepEqual(added.map(({ name }: any) => name), ["unread", "wait"]);
  const [key] = paths["/v1/messages"].post.parameters;
  assert.deepEqual([key.name, key.schema["x-addition"]], ["Idempotency-Key", true]);
  assert.equal(components.headers.IdempotentReplayed["x-addition"], true);
  for (const name of ["RequestTimeout", "Unavailable"]) {
    assert.equal(components.responses[name]["x-addition"], true, name);
  }
  assert.equal(paths["/v1/messages"].post.responses["422"]["x-addition"], true);
  assert.equal(components.responses.Internal["x-addition"], undefined);
});
