// Over 300 lines: one good request for every route of the relay, typed by hand.
/**
 * After a leap forward of the clock, over all routes at once: what is read is answered as before, what
 * would write is answered 503 until both clocks have agreed for a minute, and is then done.
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { generateKeyPair } from "../../../toolkit/generate_key_pair.ts";
import {
  subscriptionKey,
  type SubscriptionRecord,
} from "../../../server/messaging/digest/subscription.ts";
import { signedIn } from "../../mail/sign_in/google_calls.ts";
import { signIn } from "../../messaging/operator/operator.ts";
import { type Answer, ask } from "../../support/answer.ts";
import { LETTER, makeDraftWorld, newDraft, newestApproval } from "../../support/draft_world.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { startGoogleIssuer, startGoogleRelay } from "../../support/google_issuer.ts";
import { mailText, signInbound } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { accepted, MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import {
  CLAIM_CONFIRM,
  claimLink,
  MAGIC_CONFIRM,
  magicLink,
  PROGRAM,
} from "../../support/mail_links.ts";
import { NOBODY } from "../../support/key_changes.ts";
import { signRegistration } from "../../support/mail_relay.ts";
import { receive } from "../../support/mail_tools.ts";
import type { TestRelay } from "../../support/relay.ts";
import { deliver, newSendingOrg, send } from "../../support/sending_org.ts";
import { storedRecord } from "../../support/read_through.ts";
import { registerAgents, TestAgent, toBytes } from "../../support/test_agent.ts";
import { rpcRequest, ToolAgent } from "../../support/tool_client.ts";
import { deliveredWebhook } from "../../support/webhook_world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const LIMITS = {
  inboxPollIntervalMs: 0,
  mailRegistrationsPerIpPerHour: 1_000,
  registrationsPerIpPerHour: 1_000,
};

/** A request; what is signed is signed by the right time. */
interface Call {
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Signs the request when it is sent. */
  by?: TestAgent;
}

type Calls = Record<string, Call>;

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const JSON_TYPE = { "Content-Type": "application/json" };

/** Everything that requests of one kind or another are about. */
async function makeWorld(relay: TestRelay, idToken: (sub: string) => Promise<string>) {
  const [alice, bob, , dora, eve] = await registerAgents(
    relay,
    "alice",
    "bob_1",
    "carol",
    "dora",
    "eve_1",
  );
  const messageId = await alice.sent({ to: "bob_1", body: "before" });
  const admin = bearer(ADMIN_TOKEN);
  const ban = (agent: TestAgent) =>
    ask(`${relay.url}/v1/admin/ban`, {
      method: "POST",
      headers: admin,
      body: JSON.stringify({ pubkey: agent.address }),
    });
  assert.equal((await ban(dora)).status, 200);
  assert.equal((await ban(eve)).status, 200);
  const email = { notification_email: "alice@example.org" };
  assert.equal((await alice.call("PATCH", "/v1/agents/me", { body: email })).status, 200);
  const { deps: { kv } } = relay;
  const { value } = await storedRecord<SubscriptionRecord>(kv, subscriptionKey(1));
  const unsubscribeToken = value!.unsubscribeToken!;
  const tools = await ToolAgent.register(relay.url, "tooled");
  const toolSender = await ToolAgent.register(relay.url, "tool_sender");

  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  await receive(relay, inbox.address, {
    headers: { "MIME-Version": "1.0", "Content-Type": 'multipart/mixed; boundary="b"' },
    text: "--b\r\n\r\nHello\r\n--b\r\nContent-Type: application/pdf\r\n" +
      'Content-Disposition: attachment; filename="a.pdf"\r\n\r\nPDF\r\n--b--\r\n',
  });
  await receive(relay, inbox.address);
  const listed = accepted(await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`), 200);
  const [deletable, message] = listed.data;
  const later = new Date(relay.clock.now() + 4 * 60 * MINUTE_MS).toISOString();
  const scheduled = accepted(await send(owner, inbox, { send_at: later }), 202);
  const sent = accepted(await send(owner, inbox, { to: "gone@example.org" }), 202);
  const reported = accepted(await send(owner, inbox, { to: "other@example.org" }), 202);
  await deliver(relay);
  const eventsOf = (about: { id: string }, recipient: string) => ({
    events: [{
      type: "bounced",
      bounce_type: "hard",
      message_id: about.id,
      recipient,
      at: new Date(relay.clock.now()).toISOString(),
    }],
  });
  const event = (body: object) => {
    const [id, text] = ["evt_1", JSON.stringify(body)];
    const at = Math.floor(relay.clock.now() / 1000);
    const mac = createHmac("sha256", TEST_INBOUND_SECRET).update(`${id}.${at}.${text}`);
    return {
      body: text,
      headers: {
        ...JSON_TYPE,
        "webhook-id": id,
        "webhook-timestamp": String(at),
        "webhook-signature": `v1,${mac.digest("base64")}`,
      },
    };
  };
  const told = await ask(`${relay.url}/v1/mail/events`, {
    method: "POST",
    ...event(eventsOf(sent, "gone@example.org")),
  });
  assert.deepEqual([told.status, told.json?.applied], [200, 1], told.text);
  const draft = await newDraft(owner, inbox.id, LETTER);
  const sendable = await newDraft(owner, inbox.id, LETTER);
  const doomed = await newDraft(owner, inbox.id, LETTER);
  const spareInbox = await owner.inbox();
  const spareKey = await owner.newKey({ name: "spare" });
  const { webhook, delivery } = await deliveredWebhook(relay, owner, NOBODY);

  const drafts = await makeDraftWorld(relay);
  await newDraft(drafts.agent, drafts.inbox.id, LETTER);
  const approval = await newestApproval(relay);

  const trial = await newOrg(relay);
  const claiming = await newOrg(relay);
  const shown = await claimLink(relay, claiming.key, "claiming@example.org");
  const followed = await newOrg(relay);
  const claim = await claimLink(relay, followed.key, "followed@example.org");
  const magicShown = await magicLink(relay, "magic@example.org");
  const magicFollowed = await magicLink(relay, "program@example.org");
  const linked = await signedIn(relay, await idToken("linked"));
  const linkedOwner = new MailKeyHolder(relay.url, linked.api_key, linked.org_id);
  // Only a second identity lets the first one go.
  const linkedMail = await claimLink(relay, linkedOwner.key, "linked@example.org").catch(() =>
    null
  );
  if (linkedMail !== null) await ask(`${relay.url}${linkedMail.path}`, { headers: PROGRAM });
  const doomedOrg = await newSendingOrg(relay);
  const suspended = await newSendingOrg(relay);
  const cookie = await signIn(relay);
  return {
    ...{ relay, alice, bob, dora, eve, messageId, admin, unsubscribeToken, tools, toolSender },
    ...{ owner, inbox, message, deletable, scheduled, reported, draft, sendable, doomed },
    ...{
      spareInbox,
      spareKey,
      webhook,
      delivery,
      drafts,
      approval,
      trial,
      shown,
      claim,
      magicShown,
      magicFollowed,
    },
    ...{ linkedOwner, doomedOrg, suspended, cookie, event, eventsOf },
    tokens: { signIn: await idToken("fresh"), attach: await idToken("attached") },
  };
}

type World = Awaited<ReturnType<typeof makeWorld>>;

const json = (value: unknown): Pick<Call, "body"> => ({ body: JSON.stringify(value) });

/** What the parts of a path in braces are, by the path before them. */
function fill(path: string, w: World): string {
  const named: Record<string, string> = {
    "/assets/": "relay.css",
    "/agents/": "bob_1",
    "/v1/agents/": "bob_1",
    "/docs/": "start",
    "/docs/:folder/": "readInbox",
    "/v1/messages/": String(w.messageId),
    "/v1/mail/inboxes/": w.inbox.id,
    "/v1/mail/messages/": w.message.id,
    "/v1/mail/messages/:id/attachments/": "att_0",
    "/v1/mail/threads/": w.message.thread_id,
    "/v1/mail/drafts/": w.draft.id,
    "/v1/mail/api-keys/": w.spareKey.id,
    "/v1/mail/webhooks/": w.webhook,
    "/mail/drafts/": w.approval.path.split("/")[3]!.split("?")[0]!,
    "/dev/mail/": "1",
  };
  return path.replaceAll(/:[a-z_]+/g, (name, at: number) => {
    if (name === ":folder") return "reference";
    return named[path.slice(0, at)] ?? "x_1";
  });
}

const QUERIES: Record<string, (w: World) => string> = {
  "/v1/mail/search": () => "?q=hello",
  "/v1/mail/delivery-health": () => "?period=7d",
  "/v1/mail/activity": () => "?period=7d",
  "/mail/drafts/:id": (w) => `?token=${w.approval.token}`,
  "/mail/drafts/:id/html": (w) => `?token=${w.approval.token}`,
  [MAGIC_CONFIRM]: (w) => `?token=${w.magicShown.token}`,
  [CLAIM_CONFIRM]: (w) => `?token=${w.shown.token}`,
  "/v1/notifications": (w) => `?token=${w.unsubscribeToken}`,
  "/v1/inbox": () => "?since_id=0",
};

/** GETs of the route table, each as somebody who may. */
function reads(w: World): Calls {
  const calls: Calls = {};
  for (const { method, path } of w.relay.relay.app.routes) {
    // A look at the link of a digest unsubscribes: it is among what writes.
    if (method !== "GET" || path === "/v1/notifications/unsubscribe") continue;
    const target = fill(path, w) + (QUERIES[path]?.(w) ?? "");
    if (`GET ${path}` in ROWLESS) continue;
    const isPage = path.endsWith("/confirm") || path.startsWith("/mail/");
    calls[`GET ${path}`] = isPage
      ? { path: target, headers: { Accept: "text/html" } }
      : path.startsWith("/v1/mail/")
      ? { path: target, headers: bearer(w.owner.key) }
      : path.startsWith("/v1/admin/")
      ? { path: target, headers: w.admin }
      : path.startsWith("/admin")
      ? { path: target, headers: { Accept: "text/html", Cookie: w.cookie } }
      : ["/v1/outbox", "/v1/messages/:id/signed-request"].includes(path)
      ? { path: target, by: w.alice }
      : ["/v1/inbox", "/v1/whoami"].includes(path)
      ? { path: target, by: w.bob }
      : { path: target };
  }
  return calls;
}

/** Good requests that write, in an order where each works after the ones before. */
function writes(w: World): Calls {
  const { relay, owner, inbox, message, approval } = w;
  const key = (holder: MailKeyHolder, value?: unknown): Pick<Call, "headers" | "body"> => ({
    headers: bearer(holder.key),
    ...value === undefined ? {} : json(value),
  });
  const form = (fields: Record<string, string>) => ({
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      Accept: "text/html",
      Cookie: w.cookie,
      Origin: relay.url,
    },
    body: new URLSearchParams(fields).toString(),
  });
  const inbound = signInbound({
    to: [inbox.address],
    raw: mailText(),
    timestamp: Math.floor(relay.clock.now() / 1000),
  });
  const mail = "/v1/mail";
  const gone = `${mail}/inboxes/${inbox.id}/messages/send`;
  return {
    "POST /v1/register": {
      path: "/v1/register",
      ...json({ handle: "fresh_1", pubkey: generateKeyPair().address }),
    },
    "POST /v1/messages": {
      path: "/v1/messages",
      by: w.alice,
      ...json({ to: "bob_1", body: "now" }),
    },
    "POST /v1/messages by token": {
      path: "/v1/messages",
      headers: { ...bearer(w.tools.token), "Idempotency-Key": "k" },
      ...json({ to: "bob_1", body: "now" }),
    },
    "PATCH /v1/agents/me": {
      path: "/v1/agents/me",
      by: w.bob,
      ...json({ display_name: "n" }),
    },
    "POST /v1/owner-token": { path: "/v1/owner-token", by: w.bob },
    "POST /v1/keys/export": { path: "/v1/keys/export", headers: bearer(w.toolSender.token) },
    "GET /v1/notifications/unsubscribe": {
      path: `/v1/notifications/unsubscribe?token=${w.unsubscribeToken}`,
    },
    "POST /v1/admin/ban": {
      path: "/v1/admin/ban",
      headers: w.admin,
      ...json({ handle: "carol" }),
    },
    "POST /v1/admin/unban": {
      path: "/v1/admin/unban",
      headers: w.admin,
      ...json({ handle: "carol" }),
    },
    "POST /v1/admin/purge": {
      path: "/v1/admin/purge",
      headers: w.admin,
      ...json({ pubkey: w.dora.address }),
    },
    "POST /admin/ban": {
      path: "/admin/ban",
      ...form({ agent: "carol", reason: "", confirmed: "yes" }),
    },
    "POST /admin/unban": { path: "/admin/unban", ...form({ agent: "carol" }) },
    "POST /admin/purge": {
      path: "/admin/purge",
      ...form({ agent: "eve_1", confirmed: "yes" }),
    },
    "POST /mail/sign-in/key": { path: "/mail/sign-in/key", ...form({ api_key: w.owner.key }) },
    "POST /admin/orgs/suspend": {
      path: "/admin/orgs/suspend",
      ...form({ org: w.suspended.orgId, reason: "", confirmed: "yes" }),
    },
    "POST /admin/orgs/unsuspend": {
      path: "/admin/orgs/unsuspend",
      ...form({ org: w.suspended.orgId }),
    },
    "POST /v1/mail/agents/register": {
      path: `${mail}/agents/register`,
      ...json(signRegistration(relay.clock.now())),
    },
    "POST /v1/mail/agents/register-trial": {
      path: `${mail}/agents/register-trial`,
      ...json(signRegistration(relay.clock.now())),
    },
    "POST /v1/mail/org/google": {
      path: `${mail}/org/google`,
      ...json({ id_token: w.tokens.signIn }),
    },
    "POST /v1/mail/org/attach": {
      path: `${mail}/org/attach`,
      ...key(w.trial, { id_token: w.tokens.attach }),
    },
    "DELETE /v1/mail/org/google": { path: `${mail}/org/google`, ...key(w.linkedOwner) },
    "POST /v1/mail/org/magic": {
      path: `${mail}/org/magic`,
      ...json({ email: "asks@example.org" }),
    },
    "POST /v1/mail/org/claim": {
      path: `${mail}/org/claim`,
      ...key(w.suspended, { email: "claims@example.org" }),
    },
    "GET /v1/mail/org/magic/confirm by a program": {
      path: w.magicFollowed.path,
      headers: PROGRAM,
    },
    "GET /v1/mail/org/claim/confirm by a program": { path: w.claim.path, headers: PROGRAM },
    "POST /v1/mail/org/magic/confirm": {
      path: MAGIC_CONFIRM,
      ...form({ token: w.magicShown.token }),
    },
    "POST /v1/mail/org/claim/confirm": {
      path: CLAIM_CONFIRM,
      ...form({ token: w.shown.token }),
    },
    "POST /v1/mail/inbound/raw": {
      path: `${mail}/inbound/raw`,
      headers: inbound.headers,
      body: inbound.body,
    },
    "POST /v1/mail/events": {
      path: `${mail}/events`,
      ...w.event(w.eventsOf(w.reported, "other@example.org")),
    },
    "POST /v1/mail/inboxes": { path: `${mail}/inboxes`, ...key(owner, {}) },
    "PATCH /v1/mail/inboxes/:id": {
      path: `${mail}/inboxes/${inbox.id}`,
      ...key(owner, { display_name: "x" }),
    },
    "POST /v1/mail/inboxes/:id/messages/send": {
      path: gone,
      headers: { ...bearer(owner.key), "Idempotency-Key": "k" },
      ...json({ to: "ann@example.org", text: "x" }),
    },
    "POST /v1/mail/messages/:id/reply": {
      path: `${mail}/messages/${message.id}/reply`,
      ...key(owner, { text: "x" }),
    },
    "POST /v1/mail/messages/:id/forward": {
      path: `${mail}/messages/${message.id}/forward`,
      ...key(owner, { to: "ann@example.org" }),
    },
    "POST /v1/mail/messages/:id/cancel": {
      path: `${mail}/messages/${w.scheduled.id}/cancel`,
      ...key(owner),
    },
    "PATCH /v1/mail/messages/:id": {
      path: `${mail}/messages/${message.id}`,
      ...key(owner, { read: true }),
    },
    "PATCH /v1/mail/threads/:id": {
      path: `${mail}/threads/${w.deletable.thread_id}`,
      ...key(owner, { read: true }),
    },
    "DELETE /v1/mail/messages/:id": {
      path: `${mail}/messages/${w.deletable.id}`,
      ...key(owner),
    },
    "POST /v1/mail/inboxes/:id/drafts": {
      path: `${mail}/inboxes/${inbox.id}/drafts`,
      ...key(owner, { text: "x" }),
    },
    "PATCH /v1/mail/drafts/:id": {
      path: `${mail}/drafts/${w.draft.id}`,
      ...key(owner, { text: "x" }),
    },
    "POST /v1/mail/drafts/:id/send": {
      path: `${mail}/drafts/${w.sendable.id}/send`,
      ...key(owner),
    },
    "DELETE /v1/mail/drafts/:id": { path: `${mail}/drafts/${w.doomed.id}`, ...key(owner) },
    "POST /mail/drafts/:id": {
      path: approval.path.split("?")[0]!,
      ...form({ token: approval.token, action: "approve" }),
    },
    "POST /v1/mail/api-keys": { path: `${mail}/api-keys`, ...key(owner, { name: "x" }) },
    "DELETE /v1/mail/api-keys/:id": {
      path: `${mail}/api-keys/${w.spareKey.id}`,
      ...key(owner),
    },
    "POST /v1/mail/webhooks": { path: `${mail}/webhooks`, ...key(owner, { url: NOBODY }) },
    "PATCH /v1/mail/webhooks/:id": {
      path: `${mail}/webhooks/${w.webhook}`,
      ...key(owner, { url: NOBODY }),
    },
    "POST /v1/mail/webhooks/:id/rotate": {
      path: `${mail}/webhooks/${w.webhook}/rotate`,
      ...key(owner),
    },
    "POST /v1/mail/webhooks/:id/test": {
      path: `${mail}/webhooks/${w.webhook}/test`,
      ...key(owner),
    },
    "POST /v1/mail/webhooks/:id/deliveries/:delivery_id/redeliver": {
      path: `${mail}/webhooks/${w.webhook}/deliveries/${w.delivery}/redeliver`,
      ...key(owner),
    },
    "DELETE /v1/mail/webhooks/:id": { path: `${mail}/webhooks/${w.webhook}`, ...key(owner) },
    "DELETE /v1/mail/suppressions/:address": {
      path: `${mail}/suppressions/${encodeURIComponent("gone@example.org")}`,
      ...key(owner),
    },
    "DELETE /v1/mail/inboxes/:id": {
      path: `${mail}/inboxes/${w.spareInbox.id}`,
      ...key(owner),
    },
    "DELETE /v1/mail/org": {
      path: `${mail}/org`,
      ...key(w.doomedOrg, { org_id: w.doomedOrg.orgId }),
    },
    "POST /v1/admin/mail/orgs/:id/suspend": {
      path: `/v1/admin/mail/orgs/${w.suspended.orgId}/suspend`,
      headers: w.admin,
    },
    "POST /v1/admin/mail/orgs/:id/unsuspend": {
      path: `/v1/admin/mail/orgs/${w.suspended.orgId}/unsuspend`,
      headers: w.admin,
    },
    "POST /dev/mail": {
      path: "/dev/mail",
      headers: JSON_TYPE,
      ...json({ from: "a@example.org", to: inbox.address, subject: "s", text: "t" }),
    },
  };
}

/** Routes that take a POST and write no row, each with why the clock does not matter. */
const ROWLESS: Record<string, string> = {
  "POST /admin/sign-in": "a session is a MAC; an operator signs in to see what is wrong",
  "POST /admin/sign-out": "the same",
  "POST /mcp": "tools: below",
  "POST /mcp/mail": "tools: below",
  "POST /v1/notifications/unsubscribe": "as its GET, of which the token is used up",
  "POST /v1/notifications/stop": "its token comes with the answer to the one before",
  "POST /dev/mail/:n/answer": "hands in as POST /dev/mail does",
  "GET /dev/live": "a stream without an end, of what is in memory",
  "POST /inbox/sign-in": "a session is a MAC",
  "POST /inbox/sign-out": "its row says no time",
  // Rows of the console are written by the API's own routes, which are above, and by its sign-in by a key.
  ...Object.fromEntries(
    [
      ...["switch", "write", "keys", "webhooks", "lists", "org", "threads/:id", "messages/:id"],
      ...["waiting/:id", "webhooks/:id", "sign-in/email", "sign-in/link", "sign-in/google"],
    ].map((
      path,
    ) => [`POST /mail/${path}`, "asks the API, or begins a session as sign-in/key does"]),
  ),
  "POST /mail/sign-out": "without a session it ends none; with one it deletes rows alone",
  "POST /dev/webhooks/receiver/:name": "keeps what comes in memory alone",
};

function request(relay: TestRelay, route: string, call: Call, atMs: number): Promise<Answer> {
  const method = route.split(" ")[0]!;
  const body = call.body === undefined ? undefined : toBytes(call.body);
  const signature =
    call.by?.sign(method, call.path.split("?")[0]!, body, Math.floor(atMs / 1000)) ?? {};
  return ask(`${relay.url}${call.path}`, {
    method,
    redirect: "manual",
    headers: { ...call.headers, ...signature },
    ...body === undefined ? {} : { body },
  });
}

/** Ids of rows with their versions, without marks of sightings and of how long the store has lived. */
async function rowsOf({ deps: { kv } }: TestRelay): Promise<string[]> {
  const rows: string[] = [];
  for await (const { key, versionstamp } of kv.list({ prefix: [] }, { batchSize: 500 })) {
    if (!["meta", "slot", "lease", "journal", "in", "out"].includes(String(key[0]))) {
      rows.push(`${key.join("/")} ${versionstamp}`);
    }
  }
  return rows;
}

Deno.test("after a leap of the clock every route reads on, and refuses to write until it is settled", async () => {
  await using issuer = await startGoogleIssuer();
  const env = { ...issuer.env, RELAY_MAIL_INBOUND_SECRET: TEST_INBOUND_SECRET.toBase64() };
  await using relay = await startGoogleRelay({ env }, {
    limits: LIMITS,
    config: { adminToken: ADMIN_TOKEN },
  });
  const idToken = (sub: string) =>
    issuer.token(relay.clock.now(), { sub, email: `${sub}@example.com` });
  const world = await makeWorld(relay, idToken);
  const [reading, writing] = [reads(world), writes(world)];
  const declared = relay.relay.app.routes.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(
    declared.filter((route) => !(route in reading || route in writing || route in ROWLESS)),
    [],
    "a new route needs a request here",
  );

  // Everything was looked at once: nothing is read for the first time.
  const before = new Map<string, number>();
  for (const [route, call] of Object.entries(reading)) {
    const { status, text } = await request(relay, route, call, relay.clock.now());
    assert.ok(status < 500, `${route} ${status} ${text.slice(0, 200)}`);
    before.set(route, status);
  }
  const good = [...before].filter(([, status]) => status < 400);
  assert.ok(good.length > 0.9 * before.size, JSON.stringify([...before]));
  await world.alice.sent({ to: "bob_1", body: "delivered while nobody knows the time" });

  const leapMs = 30 * MINUTE_MS;
  relay.clock.leap(leapMs);
  const rows = await rowsOf(relay);
  for (const [route, call] of Object.entries(writing)) {
    for (const atMs of [relay.clock.now() - leapMs, relay.clock.now()]) {
      const { status, headers, text } = await request(relay, route, call, atMs);
      const isTold = /the relay.{1,10}s clock has leapt ahead/i.test(text);
      assert.deepEqual([status, isTold], [503, true], `${route} ${status} ${text.slice(0, 300)}`);
      assert.equal(headers.get("retry-after"), "60", route);
    }
  }
  assert.deepEqual(await rowsOf(relay), rows);
  const rightMs = relay.clock.now() - leapMs;
  const readAll = async (...times: number[]) => {
    for (const [route, call] of Object.entries(reading)) {
      for (const atMs of times) {
        for (const method of ["GET", "HEAD"]) {
          const { status, text } = await request(relay, route.replace("GET", method), call, atMs);
          const told = `${method} ${route} ${status} ${text.slice(0, 300)}`;
          assert.equal(status, before.get(route), told);
        }
      }
    }
  };
  await readAll(rightMs, relay.clock.now());
  // By such a time all of it has expired.
  relay.clock.leap(400 * DAY_MS);
  await readAll(rightMs, relay.clock.now());
  relay.clock.leap(-400 * DAY_MS);
  await readAll(relay.clock.now());

  relay.clock.advance(MINUTE_MS);
  const waiting = writes(world); // signed again, where a time is signed in a body
  for (const [route, call] of Object.entries(waiting)) {
    const { status, text } = await request(relay, route, call, relay.clock.now());
    assert.ok(status < 400, `${route} ${status} ${text.slice(0, 300)}`);
  }
});

const TOOLS: Record<string, (w: World) => Record<string, unknown>> = {
  "/mcp register": () => ({ handle: "another" }),
  "/mcp whoami": ({ tools }) => ({ token: tools.token }),
  "/mcp send_message": ({ tools }) => ({ token: tools.token, to: "bob_1", body: "x" }),
  "/mcp check_inbox": ({ tools }) => ({ token: tools.token }),
  "/mcp find_agents": () => ({ query: "bob" }),
  "/mcp list_agents": () => ({}),
  "/mcp update_profile": ({ tools }) => ({ token: tools.token, display_name: "x" }),
  "/mcp/mail create_inbox": ({ owner }) => ({ api_key: owner.key }),
  "/mcp/mail check_inbox": ({ owner, inbox }) => ({ api_key: owner.key, inbox_id: inbox.id }),
  "/mcp/mail read_thread": ({ owner, message }) => ({
    api_key: owner.key,
    thread_id: message.thread_id,
  }),
  "/mcp/mail search_mail": ({ owner }) => ({ api_key: owner.key, q: "hello" }),
  "/mcp/mail send_email": ({ owner, inbox }) => ({
    api_key: owner.key,
    inbox_id: inbox.id,
    to: ["ann@example.org"],
    text: "x",
  }),
  "/mcp/mail reply_to_message": ({ owner, message }) => ({
    api_key: owner.key,
    message_id: message.id,
    text: "x",
  }),
};

const READING_TOOLS = [
  "/mcp whoami",
  "/mcp check_inbox",
  "/mcp find_agents",
  "/mcp list_agents",
  "/mcp/mail check_inbox",
  "/mcp/mail read_thread",
  "/mcp/mail search_mail",
];

Deno.test("after a leap of the clock tools that read go on, and those that write say why they wait", async () => {
  await using issuer = await startGoogleIssuer();
  const env = { ...issuer.env, RELAY_MAIL_INBOUND_SECRET: TEST_INBOUND_SECRET.toBase64() };
  await using relay = await startGoogleRelay({ env }, {
    limits: LIMITS,
    config: { adminToken: ADMIN_TOKEN },
  });
  const world = await makeWorld(relay, (sub) => issuer.token(relay.clock.now(), { sub }));
  assert.equal((await world.alice.send({ to: "tooled", body: "for the tool" })).status, 201);
  const post = async (path: string, method: string, params: unknown = {}) =>
    (await ask(`${relay.url}${path}`, {
      method: "POST",
      headers: JSON_TYPE,
      body: rpcRequest(method, params as never),
    })).json.result;
  const names: string[] = [];
  for (const path of ["/mcp", "/mcp/mail"]) {
    for (const { name } of (await post(path, "tools/list")).tools) names.push(`${path} ${name}`);
  }
  assert.deepEqual(names.toSorted(), Object.keys(TOOLS).sort(), "a new tool needs a call here");
  const callAll = async () => {
    const refused: string[] = [];
    for (const [tool, args] of Object.entries(TOOLS)) {
      const [path, name] = tool.split(" ") as [string, string];
      const { isError, content } = await post(path, "tools/call", { name, arguments: args(world) });
      if (isError !== true) continue;
      refused.push(tool);
      const { text } = content[0];
      assert.match(text, /^unavailable: the relay's clock has leapt ahead/, `${tool} ${text}`);
    }
    return refused;
  };
  relay.clock.leap(30 * MINUTE_MS);
  const writing = Object.keys(TOOLS).filter((tool) => !READING_TOOLS.includes(tool));
  assert.deepEqual(await callAll(), writing);
  relay.clock.advance(MINUTE_MS);
  assert.deepEqual(await callAll(), []);
});
