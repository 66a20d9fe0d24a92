/** What holds for all mail routes as HTTP: HEAD, caches, other origins, literal paths. */
import assert from "node:assert/strict";
import { accepted, newOrg } from "../support/mail_caller.ts";
import { askMail, startMailRelay } from "../support/mail_relay.ts";
import { startMailStore } from "../support/mail_store.ts";
import { askRaw } from "../support/raw_request.ts";
import { listRows } from "../support/store_rows.ts";

const READABLE = [
  "/v1/mail/org",
  "/v1/mail/inboxes",
  "/v1/mail/inboxes/{inbox}",
  "/v1/mail/api-keys",
  "/v1/mail/api-keys/{key}",
];

Deno.test("HEAD of every mail route that can be read answers as GET does, without a body or an effect", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const owner = await newOrg(relay);
  const inbox = await owner.inbox();
  await relay.relay.crons.figures!();
  const { id } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200).data[0];
  await relay.relay.crons.figures!();
  const before = await listRows(kv, { marks: true });
  relay.clock.advance(60_000);
  for (const path of READABLE) {
    const target = path.replace("{inbox}", inbox.id).replace("{key}", id);
    const head = await owner.ask("HEAD", target);
    assert.equal(head.status, 200);
    assert.equal(head.body, "");
    assert.equal(head.headers.get("cache-control"), "no-store");
    const refused = await askMail(relay.url, "HEAD", target);
    assert.equal(refused.status, 401);
  }
  await relay.relay.crons.figures!();
  const own = (rows: string[]) => rows.filter((row) => /^\[ "mail/.test(row));
  assert.ok(own(before).length > 0);
  assert.deepEqual(own(await listRows(kv, { marks: true })), own(before));
});

Deno.test("answers that hold secrets or an org's own things are not to be kept", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const inbox = await owner.createInbox({ client_id: "a" });
  const answers = [
    inbox,
    await owner.createInbox({ client_id: "a" }),
    await owner.createKey({ name: "k" }),
    await owner.readOrg(),
    await owner.ask("GET", "/v1/mail/inboxes"),
    await owner.ask("GET", `/v1/mail/inboxes/${inbox.body.id}`),
    await owner.ask("PATCH", `/v1/mail/inboxes/${inbox.body.id}`, { body: {} }),
    await owner.ask("GET", "/v1/mail/api-keys"),
  ];
  for (const answer of answers) {
    assert.ok(answer.status < 300);
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
});

Deno.test("mail routes allow any origin without credentials, refusals included; 405 names the methods", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const headers = { Origin: "https://example.org" };
  const answers = [
    await owner.ask("GET", "/v1/mail/org", { headers }),
    await askMail(relay.url, "GET", "/v1/mail/org", { headers }),
    await owner.ask("GET", "/v1/mail/activity", { headers }),
    await owner.ask("PUT", "/v1/mail/org", { headers }),
    await owner.ask("GET", "/v1/mail/nothing", { headers }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [200, 401, 400, 405, 404]);
  for (const answer of answers) {
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(answer.headers.get("access-control-allow-credentials"), null);
  }
  const allowed = answers[3]!.headers.get("allow")!.split(", ").sort();
  assert.deepEqual(allowed, ["DELETE", "GET", "HEAD", "OPTIONS"]);
  const preflight = await askMail(relay.url, "OPTIONS", "/v1/mail/inboxes", {
    headers: {
      ...headers,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
    },
  });
  assert.equal(preflight.status, 204);
  const admin = await askMail(relay.url, "POST", "/v1/admin/mail/orgs/org_1/suspend", { headers });
  assert.equal(admin.headers.get("access-control-allow-origin"), null);
});

Deno.test("paths hold literally: an encoded slash or NUL in an id is 404, other spellings are no routes", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const inbox = await owner.inbox({ local_part: "bob" });
  for (
    const target of [
      "/v1/mail/inboxes/bob%2540agents.test",
      "/v1/mail/inboxes/a%2Fb",
      "/v1/mail/inboxes/%00",
      "/v1/mail/inboxes/%zz",
      "/v1/mail/inboxes/@agents.test",
      "/v1/mail/inboxes/bob@agents.test.",
      "/v1/mail/inboxes/bob@other.test",
      `/v1/mail/inboxes/${inbox.id.toLowerCase()}`,
      `/v1/mail/inboxes/${inbox.id}%20`,
      `/v1/mail/inboxes/${"x".repeat(500)}@agents.test`,
      "/v1/mail/Org",
      "/v1/mail//org",
      "/v1/mail/org/",
      "/v1/mail/%6Frg",
    ]
  ) {
    const answer = await askRaw(relay.port, {
      method: "GET",
      target,
      headers: { Authorization: `Bearer ${owner.key}` },
    });
    assert.deepEqual([answer.status, answer.json.error.code], [404, "not_found"], target);
  }
  for (const named of ["BOB@AGENTS.TEST", "bob%40agents.test", "b%6Fb@agents.test"]) {
    assert.equal(accepted(await owner.ask("GET", `/v1/mail/inboxes/${named}`), 200).id, inbox.id);
  }
});
