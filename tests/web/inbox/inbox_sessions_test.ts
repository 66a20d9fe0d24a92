/** /inbox as its attackers meet it: forged, fixed, outlived, sent from elsewhere, after another's messages. */
import assert from "node:assert/strict";
import { ask } from "../../support/answer.ts";
import { makeStoreFolder, startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { assertKeptByNobody, visit } from "../../messaging/operator/operator.ts";
import { formTokenIn, isOpen, openInbox } from "./visitor.ts";

const HOUR_MS = 3_600_000;

Deno.test("signing in at /inbox sets a cookie out of the reach of scripts, that is not the token", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const page = await visit(relay, "/inbox");
  assert.match(page.text, /<form method="post" action="\/inbox\/sign-in">/);
  assertKeptByNobody(page);
  const token = ` ${alice.ownerToken}\n`;
  const answer = await visit(relay, "/inbox/sign-in", { form: { token } });
  assertKeptByNobody(answer);
  const cookie = answer.headers.get("set-cookie")!;
  assert.match(
    cookie,
    /^relay_inbox=[\w.~-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
  );
  const opened = await visit(relay, "/inbox", { cookie: `other=1; ${cookie.split(";")[0]}` });
  assert.equal(opened.status, 200);
  assertKeptByNobody(opened);
  assert.match(opened.text, /Nothing has come for @alice yet/);
  const value = cookie.split(";")[0]!.split("=")[1]!;
  for (const secret of [alice.ownerToken, alice.ownerToken.slice(9), value]) {
    assert.ok(!opened.text.includes(secret), "no page says it");
    assert.ok(!JSON.stringify(relay.logged).includes(secret), "no log line says it");
  }
  assert.ok(!cookie.includes(alice.ownerToken.slice(9)));
});

Deno.test("at https the cookie of /inbox has the prefix that no other host can set, and nothing else is read", async () => {
  const baseUrl = "https://relay.test";
  await using relay = await startTestRelay({ config: { baseUrl } });
  const [alice] = await registerAgents(relay, "alice");
  const form = { token: alice.ownerToken };
  const answer = await visit(relay, "/inbox/sign-in", { origin: baseUrl, form });
  const cookie = answer.headers.get("set-cookie")!;
  assert.match(cookie, /^__Host-relay_inbox=[^;]+; Path=\/; .*; SameSite=Lax; Secure$/);
  const [sent] = cookie.split(";");
  const headers = { Host: "relay.test" };
  // fetch() sets Host by itself: what a proxy hands on is asked for by hand.
  assert.match(await rawGet(relay.port, "/inbox", sent!, headers.Host), /sign-out/);
  const plain = sent!.replace("__Host-", "");
  assert.doesNotMatch(await rawGet(relay.port, "/inbox", plain, headers.Host), /sign-out/);
});

Deno.test("wrong tokens open no inbox, and ten of them get a wait, while the right one is taken", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const wrong = ["", "x", `${alice.ownerToken}x`, alice.ownerToken.toUpperCase(), alice.address];
  for (const token of [...wrong, ...wrong]) {
    const answer = await visit(relay, "/inbox/sign-in", { form: { token } });
    assert.equal(answer.status, 403, token);
    assert.equal(answer.headers.get("set-cookie"), null);
    assert.match(answer.text, /No agent of this relay has this token/);
  }
  const again = await visit(relay, "/inbox/sign-in", { form: { token: "x" } });
  assert.equal(again.status, 429);
  assert.ok(await isOpen(relay, await openInbox(relay, alice.ownerToken)));
});

Deno.test("forms of /inbox are taken from the relay's own pages alone, each with its own token", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const cookie = await openInbox(relay, alice.ownerToken);
  const other = await openInbox(relay, bob.ownerToken);
  const form_token = formTokenIn(await visit(relay, "/inbox", { cookie }));
  const strangers = [null, "null", "https://evil.example", `${relay.url}.evil.example`];
  for (const origin of strangers) {
    for (const path of ["sign-in", "sign-out"]) {
      const form = { token: alice.ownerToken, form_token };
      const answer = await visit(relay, `/inbox/${path}`, { cookie, origin, form });
      assert.equal(answer.status, 403, `${path} from ${origin}`);
      assert.equal(answer.headers.get("set-cookie"), null);
    }
  }
  const others = formTokenIn(await visit(relay, "/inbox", { cookie: other }));
  for (const forged of ["", "x", others, form_token.slice(1)]) {
    const form = { form_token: forged };
    const answer = await visit(relay, "/inbox/sign-out", { cookie, form });
    assert.equal(answer.status, 403, forged);
    assert.match(answer.text, /not of your session/);
  }
  assert.equal((await visit(relay, "/inbox/sign-out", { cookie })).status, 404, "GET");
  assert.ok(await isOpen(relay, cookie), "nobody was signed out");
  assert.equal(strangers.length, 4);
});

Deno.test("a session of /inbox ends by its time, by signing out anywhere, and with its token", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const bobs = await openInbox(relay, bob.ownerToken);
  const first = await openInbox(relay, alice.ownerToken);
  const second = await openInbox(relay, alice.ownerToken);
  assert.notEqual(first, second);
  const form_token = formTokenIn(await visit(relay, "/inbox", { cookie: first }));
  const out = await visit(relay, "/inbox/sign-out", { cookie: first, form: { form_token } });
  assert.match(out.headers.get("set-cookie")!, /^relay_inbox=; Path=\/; Max-Age=0; /);
  for (const cookie of [first, second]) assert.ok(!await isOpen(relay, cookie));
  assert.ok(await isOpen(relay, bobs), "another agent's session stays");

  const third = await openInbox(relay, alice.ownerToken);
  assert.ok(await isOpen(relay, third));
  const renewed = await alice.call("POST", "/v1/owner-token");
  assert.equal(renewed.status, 201);
  assert.ok(!await isOpen(relay, third), "its token was replaced");
  assert.equal((await visit(relay, "/inbox/1", { cookie: third })).status, 303);

  const fourth = await openInbox(relay, renewed.json.owner_token);
  relay.clock.advance(12 * HOUR_MS - 1);
  assert.ok(await isOpen(relay, fourth));
  relay.clock.advance(1);
  assert.ok(!await isOpen(relay, fourth));
});

Deno.test("a cookie of /inbox is not forged, and a value that was there before is no session after", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const [alices, bobs] = [
    await openInbox(relay, alice.ownerToken),
    await openInbox(relay, bob.ownerToken),
  ];
  const parts = (cookie: string) => cookie.split("=")[1]!.split(".");
  const [mine, others] = [parts(alices), parts(bobs)];
  assert.deepEqual([mine.length, others.length], [5, 5]);
  const mixed = [2, 3, 4].map((i) =>
    mine.map((part, at) => at === i ? others[at]! : part).join(".")
  );
  const later = mine.map((part, at) => at === 1 ? String(Number(part) + 1) : part).join(".");
  for (const value of [...mixed, later, `${mine.join(".")}A`, "", "1....", "x".repeat(9_000)]) {
    assert.ok(!await isOpen(relay, `relay_inbox=${value}`), value.slice(0, 60));
  }
  // Somebody who put his own cookie there is not who signs in by it.
  const fixed = await visit(relay, "/inbox/sign-in", {
    cookie: bobs,
    form: { token: alice.ownerToken },
  });
  const issued = fixed.headers.get("set-cookie")!.split(";")[0]!;
  assert.notEqual(issued, bobs);
  assert.match((await visit(relay, "/inbox", { cookie: issued })).text, /@alice/);
  assert.doesNotMatch((await visit(relay, "/inbox", { cookie: issued })).text, /@bob_1/);
});

Deno.test("a session of /inbox opens its own agent's messages, and nothing of the API", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const toAlice = await bob.sent({ to: "alice", body: "for alice alone" });
  const toBob = await alice.sent({ to: "bob_1", body: "for bob alone" });
  const cookie = await openInbox(relay, alice.ownerToken);
  const own = await visit(relay, `/inbox/${toAlice}`, { cookie });
  assert.match(own.text, /for alice alone/);
  for (const id of [toBob, toAlice + 1, "0", "x", "9007199254740992", "%31"]) {
    for (const path of [`/inbox/${id}`, `/inbox/${id}/message.json`]) {
      const answer = await visit(relay, path, { cookie });
      assert.equal(answer.status, 404, path);
      assert.doesNotMatch(answer.text, /for bob/);
    }
  }
  assert.doesNotMatch((await visit(relay, "/inbox", { cookie })).text, /for bob/);
  for (
    const path of [
      "/v1/inbox",
      "/v1/outbox",
      "/v1/whoami",
      `/v1/messages/${toAlice}/signed-request`,
    ]
  ) {
    const answer = await ask(`${relay.url}${path}`, { headers: { Cookie: cookie } });
    assert.equal(answer.status, 401, path);
  }
  const file = await visit(relay, `/inbox/${toAlice}/message.json`, { cookie });
  assert.equal(file.headers.get("access-control-allow-origin"), null);
  assert.match(file.headers.get("content-disposition")!, /^attachment; /);
  const [given] = await alice.inbox();
  assert.deepEqual(file.json, given);
});

Deno.test("the token of an agent whose key the relay holds opens its inbox too", async () => {
  await using relay = await startTestRelay();
  const token = await registerTool(relay.url);
  const cookie = await openInbox(relay, token);
  assert.match((await visit(relay, "/inbox", { cookie })).text, /Nothing has come for @tool_agent/);
});

Deno.test("a session of /inbox holds in every process of a shared store, and ends in all of them", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const shared = { kvPath, config: { sharedStore: true } };
  try {
    await using first = await startTestRelay(shared);
    await using second = await startTestRelay(shared);
    const [alice] = await registerAgents(first, "alice");
    const cookie = await openInbox(first, alice.ownerToken);
    assert.ok(await isOpen(second, cookie));
    const form_token = formTokenIn(await visit(second, "/inbox", { cookie }));
    await visit(second, "/inbox/sign-out", { cookie, form: { form_token } });
    assert.ok(!await isOpen(first, cookie));
    const next = await openInbox(first, alice.ownerToken);
    assert.ok(await isOpen(second, next));
    assert.equal((await alice.at(second).call("POST", "/v1/owner-token")).status, 201);
    assert.ok(!await isOpen(first, next));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

/** An answer to a GET whose Host a proxy has set. */
async function rawGet(port: number, path: string, cookie: string, host: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n` +
    `Cookie: ${cookie}\r\nConnection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(request));
  return await new Response(connection.readable).text();
}

async function registerTool(url: string): Promise<string> {
  const answer = await ask(`${url}/mcp`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "register", arguments: { handle: "tool_agent" } },
    }),
  });
  return /rt_mcp_[A-Za-z0-9_-]{43}/.exec(answer.text)![0];
}
