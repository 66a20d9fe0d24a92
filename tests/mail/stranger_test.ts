/** What strangers can cost a relay with mail, and what they can learn from it. */
import assert from "node:assert/strict";
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { accepted, assertMailRefused, newOrg } from "../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../support/mail_relay.ts";
import { startMailStore, verifyOrg } from "../support/mail_store.ts";
import { listRows } from "../support/store_rows.ts";

const ADMIN_TOKEN = "an-admin-token-of-forty-characters-in-all";
const REGISTER = "/v1/mail/agents/register";

Deno.test("refused registrations write nothing and log nothing, however many come", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  await newOrg(relay);
  const before = await listRows(kv, { marks: true });
  const logged = relay.logged.length;
  const signature = signRegistration(relay.clock.now()).signature;
  const bodies: unknown[] = [];
  for (let i = 0; i < 300; i++) {
    bodies.push({ ...signRegistration(relay.clock.now()), signature });
  }
  bodies.push(
    { public_key: "x".repeat(250_000), timestamp: 1, signature: "y" },
    { ...signRegistration(relay.clock.now()), signature: "A".repeat(250_000) },
    { ...signRegistration(relay.clock.now()), label: "x".repeat(250_000) },
    { ...signRegistration(relay.clock.now()), label: "\u0301".repeat(60_000) },
    `{"public_key":${"[".repeat(60)}${"]".repeat(60)}}`,
    `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join()}}`,
    "x".repeat(300_000),
  );
  for (const body of bodies) {
    const { status } = await askMail(relay.url, "POST", REGISTER, { body });
    assert.ok([400, 401, 413].includes(status), String(status));
  }
  assert.deepEqual(await listRows(kv, { marks: true }), before);
  assert.equal(relay.logged.length, logged);
});

Deno.test("unknown keys write nothing and log nothing", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  await newOrg(relay);
  await relay.relay.crons.figures!();
  const before = await listRows(kv, { marks: true });
  const logged = relay.logged.length;
  for (let i = 0; i < 200; i++) {
    const key = `rm_sk_${String(i).padStart(43, "a")}`;
    assertMailRefused(await askMail(relay.url, "GET", "/v1/mail/org", { key }), "unknown_key");
  }
  assert.deepEqual(await listRows(kv, { marks: true }), before);
  assert.equal(relay.logged.length, logged);
});

Deno.test("who does not hold a key cannot tell whether it is registered", async () => {
  await using relay = await startMailRelay();
  const [registered, stranger] = [generateKeyPair(), generateKeyPair()];
  accepted(
    await askMail(relay.url, "POST", REGISTER, {
      body: signRegistration(relay.clock.now(), registered),
    }),
    201,
  );
  const forged = signRegistration(relay.clock.now()).signature;
  const stale = relay.clock.seconds() - 301;
  for (
    const change of [{ signature: forged }, { signature: "" }, { timestamp: stale }, { label: 1 }]
  ) {
    const [one, other] = await Promise.all([registered, stranger].map(async (keys) => {
      const body = { ...signRegistration(relay.clock.now(), keys), ...change };
      const answer = await askMail(relay.url, "POST", REGISTER, { body });
      const text = JSON.stringify(answer.body).replaceAll(keys.address, "KEY");
      return { status: answer.status, text, headers: [...answer.headers.keys()] };
    }));
    assert.deepEqual(one, other);
  }
});

Deno.test("objects of another org and objects that never were get one answer", async () => {
  await using world = await startMailStore();
  const { relay } = world;
  const [owner, other] = [await newOrg(relay), await newOrg(relay)];
  const inbox = await other.inbox({ local_part: "bob" });
  const key = await other.newKey({ name: "k" });
  const pairs = [
    [`/v1/mail/inboxes/${inbox.id}`, "/v1/mail/inboxes/ibx_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
    [`/v1/mail/inboxes/${inbox.address}`, "/v1/mail/inboxes/nobody@agents.test"],
    [`/v1/mail/api-keys/${key.id}`, "/v1/mail/api-keys/key_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
  ];
  for (const pair of pairs) {
    for (const method of ["GET", "DELETE"]) {
      const [foreign, none] = await Promise.all(pair.map((path) => owner.ask(method, path)));
      assertMailRefused(foreign!, "not_found");
      assert.deepEqual(foreign!.body, none!.body);
    }
  }
  const scoped = { name: "k", scope: "inbox" };
  const [foreign, none] = await Promise.all(
    [inbox.address, "nobody@agents.test"].map((inbox_id) =>
      owner.createKey({ ...scoped, inbox_id })
    ),
  );
  assert.deepEqual(foreign!.body, none!.body);
});

Deno.test("no key, signature, address or name reaches a log line or an error, whatever happens", async () => {
  await using world = await startMailStore({ config: { adminToken: ADMIN_TOKEN } });
  const { relay, kv } = world;
  const errors: string[] = [];
  const keep = <T extends { status: number; body: unknown }>(answer: T): T => {
    if (answer.status >= 400) errors.push(JSON.stringify(answer.body));
    return answer;
  };
  const body = signRegistration(relay.clock.now(), generateKeyPair(), "secret-label");
  const { api_key, org_id } = keep(await askMail(relay.url, "POST", REGISTER, { body })).body;
  keep(await askMail(relay.url, "POST", REGISTER, { body }));
  keep(
    await askMail(relay.url, "POST", REGISTER, { body: { ...body, timestamp: relay.clock.now() } }),
  );
  keep(
    await askMail(relay.url, "POST", REGISTER, {
      body: { ...body, timestamp: relay.clock.seconds() + 1 },
    }),
  );
  await verifyOrg(kv, org_id, relay.clock.now(), "secret-owner@example.org");
  const ask = async (method: string, path: string, given?: unknown, key = api_key) =>
    keep(await askMail(relay.url, method, path, { key, ...(given ? { body: given } : {}) })).body;
  const inbox = await ask("POST", "/v1/mail/inboxes", {
    display_name: "secret-name",
    allow_send: ["secret-friend@example.org"],
  });
  const made = await ask("POST", "/v1/mail/api-keys", { name: "secret-key-name" });
  await ask("POST", "/v1/mail/inboxes", {
    allow_send: ["secret-friend@example.org", "secret-bad@"],
  });
  await ask("PATCH", `/v1/mail/inboxes/${inbox.id}`, { display_name: "secret\nname" });
  await ask("POST", "/v1/mail/api-keys", { name: "secret-key-name", scope: "secret-scope" });
  await ask("GET", "/v1/mail/org", undefined, `${made.api_key}x`);
  await ask("GET", `/v1/mail/inboxes?cursor=secret-cursor`);
  const admin = `/v1/admin/mail/orgs/${org_id}`;
  for (const key of [ADMIN_TOKEN, `${ADMIN_TOKEN}x`]) {
    for (const verb of ["suspend", "unsuspend"]) {
      await ask("POST", `${admin}/${verb}`, undefined, key);
    }
  }
  await ask("DELETE", "/v1/mail/org", { org_id: "secret-org" });
  await ask("DELETE", "/v1/mail/org", { org_id });
  await relay.relay.crons.figures!();
  assert.ok(errors.length >= 10, errors.join("\n"));
  const logged = relay.logged.map((line) => JSON.stringify(line));
  assert.ok(logged.some((line) => line.includes("mail_org_erased")));
  const secrets = [api_key, made.api_key, body.signature as string, ADMIN_TOKEN, "secret-"];
  for (const line of [...logged, ...errors]) {
    for (const secret of secrets) assert.ok(!line.includes(secret), `${line} holds ${secret}`);
  }
});
