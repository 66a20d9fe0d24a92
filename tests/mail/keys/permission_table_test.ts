// Over 300 lines: one table of all routes, typed by hand, and what reads it.
/**
 * Permissions: the table of docs/api.md written out by hand, tried with every kind of key, so
 * that a slip in a declaration is found.
 */
import assert from "node:assert/strict";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { MAIL_ROUTES } from "../../../server/mail/routes.ts";
import { CLIENT_ID, startGoogleRelay } from "../../support/google_issuer.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, type MailAnswer } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { NOBODY } from "../../support/key_changes.ts";
import { newSendingOrg } from "../../support/sending_org.ts";
import { deliveredWebhook } from "../../support/webhook_world.ts";

/**
 * Access (OR: org-scoped keys that read, OW: org-scoped that write, IR and IW: inbox-scoped ones too,
 * for their inbox, IRW: those that do both), method, path, and the status for a key that may.
 */
const TABLE = `
OR GET    /v1/mail/org 200
OW DELETE /v1/mail/org 204
OW DELETE /v1/mail/org/google 204
OW POST   /v1/mail/org/attach 400
OW POST   /v1/mail/org/claim 202
OW POST   /v1/mail/inboxes 201
IR GET    /v1/mail/inboxes 200
IR GET    /v1/mail/inboxes/{id} 200
OW PATCH  /v1/mail/inboxes/{id} 200
OW DELETE /v1/mail/inboxes/{id} 204
IW POST   /v1/mail/inboxes/{id}/messages/send 202
IR GET    /v1/mail/inboxes/{id}/messages 200
IR GET    /v1/mail/messages/{id} 200
IW PATCH  /v1/mail/messages/{id} 200
OW DELETE /v1/mail/messages/{id} 204
IR GET    /v1/mail/messages/{id}/raw 200
IR GET    /v1/mail/messages/{id}/attachments/{attachment_id} 200
IW POST   /v1/mail/messages/{id}/reply 202
IRW POST  /v1/mail/messages/{id}/forward 202
IW POST   /v1/mail/messages/{id}/cancel 409
IR GET    /v1/mail/inboxes/{id}/threads 200
IR GET    /v1/mail/threads/{id} 200
IW PATCH  /v1/mail/threads/{id} 200
IR GET    /v1/mail/search 200
IW POST   /v1/mail/inboxes/{id}/drafts 201
IR GET    /v1/mail/inboxes/{id}/drafts 200
IR GET    /v1/mail/drafts/{id} 200
IW PATCH  /v1/mail/drafts/{id} 200
IW DELETE /v1/mail/drafts/{id} 204
IW POST   /v1/mail/drafts/{id}/send 202
OR GET    /v1/mail/usage 200
OR GET    /v1/mail/delivery-health 400
OR GET    /v1/mail/activity 400
OW POST   /v1/mail/api-keys 201
OR GET    /v1/mail/api-keys 200
OR GET    /v1/mail/api-keys/{id} 200
OW DELETE /v1/mail/api-keys/{id} 204
OW POST   /v1/mail/webhooks 201
OR GET    /v1/mail/webhooks 200
OR GET    /v1/mail/webhooks/{id} 200
OW PATCH  /v1/mail/webhooks/{id} 200
OW DELETE /v1/mail/webhooks/{id} 204
OW POST   /v1/mail/webhooks/{id}/rotate 200
OW POST   /v1/mail/webhooks/{id}/test 202
OR GET    /v1/mail/webhooks/{id}/deliveries 200
OW POST   /v1/mail/webhooks/{id}/deliveries/{delivery_id}/redeliver 202
OR GET    /v1/mail/suppressions 200
OW DELETE /v1/mail/suppressions/{address} 404`;

/** Routes that ask for no mail key. */
const KEYLESS = `
public POST /v1/mail/agents/register
public POST /v1/mail/agents/register-trial
public POST /v1/mail/org/google
public POST /v1/mail/org/magic
public GET  /v1/mail/org/magic/confirm
public POST /v1/mail/org/magic/confirm
public GET  /v1/mail/org/claim/confirm
public POST /v1/mail/org/claim/confirm
gateway POST /v1/mail/inbound/raw
gateway POST /v1/mail/events
adminToken POST /v1/admin/mail/orgs/{id}/suspend
adminToken POST /v1/admin/mail/orgs/{id}/unsuspend
public GET  /mail/drafts/{id}
public GET  /mail/drafts/{id}/html
public POST /mail/drafts/{id}
tools POST /mcp/mail`;

/** The only route that the key of an expired trial opens. */
const OPEN_AFTER_TRIAL = ["POST /v1/mail/org/attach"];

/** Sign-in is on; nothing here has a token to check. */
const GOOGLE = {
  RELAY_GOOGLE_CLIENT_ID: CLIENT_ID,
  RELAY_MAIL_INBOUND_SECRET: TEST_INBOUND_SECRET.toBase64(),
};
/** Room for two inboxes in each trial. */
const LIMITS = {
  mailRegistrationsPerIpPerHour: 10_000,
  mailInboxesPerTrial: 10,
  mailWebhooksPerOrg: 100,
};

type Access = "OR" | "OW" | "IR" | "IW" | "IRW";
const WORDS: Record<Access, string> = {
  OR: "orgRead",
  OW: "orgWrite",
  IR: "read",
  IW: "write",
  IRW: "readWrite",
};

const rowsOf = (table: string) => table.trim().split("\n").map((line) => line.split(/ +/));
const KEYED = rowsOf(TABLE).map(([access, method, path, status]) => ({
  access: access as Access,
  method: method!,
  path: path!,
  status: Number(status),
}));

Deno.test("MAIL_ROUTES has exactly the routes of docs/api.md, with the access that it gives them", () => {
  const expected = [
    ...KEYED.map(({ access, method, path }) => `${method} ${path} ${WORDS[access]}`),
    ...rowsOf(KEYLESS).map(([access, method, path]) => `${method} ${path} ${access}`),
  ];
  const actual = MAIL_ROUTES.map(({ method, path, may }) => `${method} ${path} ${may}`);
  assert.deepEqual(actual.sort(), expected.sort());
  const open = MAIL_ROUTES.filter(({ expiredTrial }) => expiredTrial === true);
  assert.deepEqual(open.map(({ method, path }) => `${method} ${path}`), OPEN_AFTER_TRIAL);
});

/** Ids that a path may name. */
interface Ids {
  inbox: string;
  key: string;
  message: string;
  thread: string;
  draft: string;
  webhook: string;
  delivery: string;
}

interface Cast {
  owner: MailKeyHolder;
  other: MailKeyHolder;
  /** In an inbox of the key, in another inbox of the org, and in another org. */
  own: Ids;
  sibling: Ids;
  foreign: Ids;
}

const UNKNOWN: Ids = {
  inbox: "ibx_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  key: "key_1",
  message: "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  thread: "thr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  draft: "dft_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  webhook: "wh_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  delivery: "dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV",
};

/** A message with one attachment. */
const WITH_FILE = mailText({
  headers: { "MIME-Version": "1.0", "Content-Type": 'multipart/mixed; boundary="b"' },
  text: "--b\r\n\r\nHello\r\n--b\r\nContent-Type: application/pdf\r\n" +
    'Content-Disposition: attachment; filename="a.pdf"\r\n\r\nPDF\r\n--b--\r\n',
});

async function makeCast(relay: TestRelay): Promise<Cast> {
  const [owner, other] = [await newSendingOrg(relay), await newSendingOrg(relay)];
  const idsOf = async (holder: MailKeyHolder, key: string): Promise<Ids> => {
    const inbox = await holder.inbox();
    const timestamp = Math.floor(relay.clock.now() / 1000);
    accepted(await handIn(relay.url, { to: [inbox.address], raw: WITH_FILE, timestamp }), 200);
    const { data } = accepted(
      await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`),
      200,
    );
    const draft = await holder.ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, {
      body: { to: "ann@example.org", text: "x" },
    });
    return {
      inbox: inbox.id,
      key,
      message: data[0].id,
      thread: data[0].thread_id,
      draft: accepted(draft, 201).id,
      ...await deliveredWebhook(relay, holder, NOBODY),
    };
  };
  const spare = await owner.newKey({ name: "spare" });
  const foreignKey = await other.newKey({ name: "foreign" });
  return {
    owner,
    other,
    own: await idsOf(owner, spare.id),
    sibling: await idsOf(owner, spare.id),
    foreign: await idsOf(other, foreignKey.id),
  };
}

const READ = "inbox:read";
const WRITE = "inbox:write";

/** Every kind of key: what it is made of, and which routes it opens. */
const KINDS: Record<string, { body: (cast: Cast) => object; opens: readonly Access[] }> = {
  "org-scoped": { body: () => ({}), opens: ["OR", "OW", "IR", "IW", "IRW"] },
  "org-scoped, read-only": { body: () => ({ permissions: [READ] }), opens: ["OR", "IR"] },
  "org-scoped, write-only": { body: () => ({ permissions: [WRITE] }), opens: ["OW", "IW"] },
  "inbox-scoped": {
    body: ({ own }) => ({ scope: "inbox", inbox_id: own.inbox }),
    opens: ["IR", "IW", "IRW"],
  },
  "inbox-scoped, read-only": {
    body: ({ own }) => ({ scope: "inbox", inbox_id: own.inbox, permissions: [READ] }),
    opens: ["IR"],
  },
  "inbox-scoped, write-only": {
    body: ({ own }) => ({ scope: "inbox", inbox_id: own.inbox, permissions: [WRITE] }),
    opens: ["IW"],
  },
};

const BODIES: Record<string, (cast: Cast) => unknown> = {
  "DELETE /v1/mail/org": ({ owner }) => ({ org_id: owner.orgId }),
  "POST /v1/mail/org/claim": () => ({ email: "owner@example.org" }),
  "POST /v1/mail/inboxes": () => ({}),
  "POST /v1/mail/webhooks": () => ({ url: NOBODY }),
  "PATCH /v1/mail/webhooks/{id}": () => ({ url: NOBODY }),
  "PATCH /v1/mail/inboxes/{id}": () => ({ display_name: "x" }),
  "POST /v1/mail/api-keys": () => ({ name: "x" }),
  "PATCH /v1/mail/messages/{id}": () => ({ read: true }),
  "PATCH /v1/mail/threads/{id}": () => ({ read: true }),
  "POST /v1/mail/inboxes/{id}/drafts": () => ({ text: "x" }),
  "PATCH /v1/mail/drafts/{id}": () => ({ text: "x" }),
  "POST /v1/mail/inboxes/{id}/messages/send": () => ({ to: "ann@example.org", text: "x" }),
  "POST /v1/mail/messages/{id}/reply": () => ({ text: "x" }),
  "POST /v1/mail/messages/{id}/forward": () => ({ to: "ann@example.org" }),
};

const QUERIES: Record<string, string> = { "/v1/mail/search": "?q=hello" };

const UNTOUCHED = {
  "{attachment_id}": "att_0",
  "{address}": "a%40example.org",
};

/** One request; ids are given by the part of the path before them. */
function call(
  holder: MailKeyHolder,
  { method, path }: { method: string; path: string },
  cast: Cast,
  ids: Ids,
): Promise<MailAnswer> {
  const kind = path.split("/")[3]!;
  const id = {
    "api-keys": ids.key,
    inboxes: ids.inbox,
    messages: ids.message,
    threads: ids.thread,
    drafts: ids.draft,
    webhooks: ids.webhook,
  }[
    kind
  ] ?? "x_1";
  let filled = path.replace("{id}", id).replace("{delivery_id}", ids.delivery);
  for (const [name, value] of Object.entries(UNTOUCHED)) filled = filled.replace(name, value);
  const body = BODIES[`${method} ${path}`]?.(cast);
  return holder.ask(method, filled + (QUERIES[path] ?? ""), body === undefined ? {} : { body });
}

Deno.test("each kind of key opens exactly its routes, and of an inbox-scoped one only its inbox", async (t) => {
  await using relay = await startGoogleRelay({ env: GOOGLE }, { limits: LIMITS });
  const testKind = (kind: string, { body, opens }: typeof KINDS[string]) => async () => {
    let cast = await makeCast(relay);
    const holderOf = async ({ owner }: Cast) =>
      owner.with((await owner.newKey({ name: kind, ...body(cast) })).api_key);
    let holder = await holderOf(cast);
    for (const route of KEYED) {
      const told = `${route.method} ${route.path}`;
      const ask = (ids: Ids) => call(holder, route, cast, ids);
      const { own, sibling, foreign } = cast;
      if (!opens.includes(route.access)) {
        // Whatever the path names: who may not call is told nothing of it.
        for (const ids of [own, foreign, UNKNOWN]) {
          assertMailRefused(await ask(ids), "insufficient_permission");
        }
        continue;
      }
      if (route.path.includes("{id}")) {
        for (const ids of [foreign, UNKNOWN]) assertMailRefused(await ask(ids), "not_found");
        if (kind.startsWith("inbox")) assertMailRefused(await ask(sibling), "not_found");
        else accepted(await ask({ ...sibling, key: own.key }), route.status);
      }
      const answer = await ask(route.path.includes("/api-keys/") ? await spareOf(cast) : own);
      assert.equal(answer.status, route.status, told);
      if (route.method === "DELETE") {
        cast = await makeCast(relay);
        holder = await holderOf(cast);
      }
    }
    // The other org has what it had.
    const { data } = accepted(await cast.other.ask("GET", "/v1/mail/inboxes"), 200);
    assert.equal(data.length, 1);
  };
  for (const [kind, made] of Object.entries(KINDS)) {
    await t.step(`a key that is ${kind}`, testKind(kind, made));
  }
});

/** With a key that was not deleted yet. */
async function spareOf({ owner, own }: Cast): Promise<Ids> {
  return { ...own, key: (await owner.newKey({ name: "another" })).id };
}

Deno.test("routes without a mail key do not ask for one", async () => {
  await using relay = await startGoogleRelay({ env: GOOGLE }, { limits: LIMITS });
  const keyless = rowsOf(KEYLESS);
  assert.ok(keyless.length > 10, String(keyless.length));
  for (const [access, method, path] of keyless) {
    const filled = path!.replace("{id}", "x_1");
    const { body } = await askMail(relay.url, method!, filled, { key: "rm_sk_nobody" });
    const takesBody = path!.startsWith("/v1/mail/agents/") ||
      ["/v1/mail/org/magic", "/v1/mail/org/google"].includes(path!);
    const isLink = path!.endsWith("/confirm") || path!.startsWith("/mail/drafts/");
    const expected = takesBody || path === "/v1/mail/inbound/raw" || (isLink && method === "POST")
      ? "invalid_json"
      : isLink
      ? "link_expired"
      : path === "/v1/mail/events"
      ? "invalid_signature"
      : access === "adminToken"
      ? "unknown_token"
      : access === "tools"
      ? -32700
      : "mail_disabled";
    assert.equal(body.error.code, expected, filled);
  }
});
