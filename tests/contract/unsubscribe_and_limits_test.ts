/** The contract of unsubscribing, of GET /v1/limits and of notification addresses, from outside. */
import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../server/limits.ts";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent } from "../support/test_agent.ts";

const PATH = "/v1/notifications/unsubscribe";

/** The token of the one subscription in the store. */
async function findToken(relay: TestRelay): Promise<string | undefined> {
  for await (
    const { value } of relay.deps.kv.list<Record<string, unknown>>({ prefix: ["notify"] })
  ) {
    const token = Object.entries(value).find(([name]) => /token/i.test(name))?.[1];
    if (typeof token === "string") return token;
  }
}

Deno.test("GET and POST unsubscribe answer one line, the same for every token, and spend it once", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "reader");
  assertStatus(
    await agent.call("PATCH", "/v1/agents/me", { body: { notification_email: "a@example.org" } }),
    200,
  );
  const token = await findToken(relay);
  const texts = new Set<string>();
  async function use(method: string, value: string, body?: string) {
    const answer = await ask(`${relay.url}${PATH}?token=${encodeURIComponent(value)}`, {
      method,
      ...(body === undefined ? {} : { body }),
    });
    assertStatus(answer, 200);
    assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "no-store");
    texts.add(answer.text);
    return answer;
  }
  const head = await ask(`${relay.url}${PATH}?token=${token}`, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(await findToken(relay), token);
  await use("GET", "nonsense");
  await use("GET", " ");
  await use("GET", "x".repeat(3000));
  await use("POST", "nonsense", "List-Unsubscribe=One-Click");
  await use("GET", "é\u0000");
  assert.equal(await findToken(relay), token);
  await use("POST", token!, "List-Unsubscribe=One-Click");
  assert.equal(await findToken(relay), undefined);
  await use("GET", token!);
  assert.equal(texts.size, 1);
  const [text] = texts;
  assert.equal(text!.trimEnd().includes("\n"), false);
  assert.match(text!, /digest/i);

  // Setting it again makes another token; the old one does nothing.
  await agent.call("PATCH", "/v1/agents/me", { body: { notification_email: "a@example.org" } });
  relay.clock.advance(1000);
  const again = await agent.call("PATCH", "/v1/agents/me", {
    body: { notification_email: "a@example.org" },
  });
  assertStatus(again, 200);
  const second = await findToken(relay);
  assert.notEqual(second, undefined);
  assert.notEqual(second, token);
  // The same address once more keeps the subscription; another one does not.
  relay.clock.advance(1000);
  await agent.call("PATCH", "/v1/agents/me", { body: { notification_email: "b@example.org" } });
  const third = await findToken(relay);
  assert.notEqual(third, second);
  await use("GET", second!);
  assert.equal(await findToken(relay), third);
  relay.clock.advance(1000);
  await agent.call("PATCH", "/v1/agents/me", { body: { notification_email: null } });
  assert.equal(await findToken(relay), undefined);
});

Deno.test("GET and POST unsubscribe without a token, with an empty or a repeated one are 400 naming it", async () => {
  await using relay = await startTestRelay();
  for (const method of ["GET", "POST"]) {
    for (const query of ["", "?token=", "?token=a&token=a", "?other=1"]) {
      assertRefused(await ask(`${relay.url}${PATH}${query}`, { method }), "invalid_json", /token/);
    }
  }
  const allow = (await ask(`${relay.url}${PATH}`, { method: "PUT" })).headers.get("allow")!;
  assert.deepEqual(allow.split(", ").sort(), ["GET", "HEAD", "OPTIONS", "POST"]);
  assertRefused(
    await ask(`${relay.url}${PATH}?token=a`, { method: "POST", body: "x".repeat(256 * 1024 + 1) }),
    "payload_too_large",
  );
  assertRefused(
    await ask(`${relay.url}${PATH}?token=a`, {
      method: "POST",
      body: "x",
      headers: { "Content-Encoding": "gzip" },
    }),
    "invalid_json",
  );
  const form = new FormData();
  form.set("List-Unsubscribe", "One-Click");
  assertStatus(await ask(`${relay.url}${PATH}?token=a`, { method: "POST", body: form }), 200);
  const raw = await askRaw(relay.port, { method: "GET", target: `${PATH}?token=%ff%zz` });
  assertRefused(raw, "invalid_json", /token/);
});

Deno.test("notification_email takes what an address may be, and nothing else", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "reader");
  const patch = (notification_email: unknown) => {
    relay.clock.advance(1000);
    return agent.call("PATCH", "/v1/agents/me", {
      body: JSON.stringify({ notification_email }),
    });
  };
  const label63 = "d".repeat(63);
  const long = (length: number) => {
    const head = `${"l".repeat(64)}@`;
    let domain = "";
    while (head.length + domain.length + 64 + 2 <= length) domain += `${label63}.`;
    return head + domain + "e".repeat(length - head.length - domain.length);
  };
  const good = [
    "a@b.c",
    " a@b.c ",
    "a+b@example.org",
    "a.b..c@x-y.org",
    "!#$%&'*+/=?^_`{|}~-@ex.org",
    `${"l".repeat(64)}@ex.org`,
    `a@${label63}.org`,
    "A@B.C",
    null,
  ];
  for (const address of good) {
    assertStatus(await patch(address), 200);
  }
  const l320 = long(320);
  assert.equal(l320.length, 320);
  assertStatus(await patch(l320), 200);
  for (
    const address of [
      "",
      " ",
      "ab",
      "a@b",
      "@b.c",
      "a@",
      "a@b.c@d.e",
      "a b@c.de",
      '"a"@b.cd',
      "a,b@c.de",
      "<a@b.cd>",
      "a@b.cd,",
      "a@b..cd",
      "a@.cd",
      "a@b.cd.",
      "ü@b.cd",
      "a@ü.cd",
      "a@b_c.de",
      "a@[1.2.3.4]",
      "a\n@b.cd",
      "a\u007f@b.cd",
      `${"l".repeat(65)}@ex.org`,
      `a@${"d".repeat(64)}.org`,
      `${l320}e`,
      5,
      true,
      [],
      {},
      ["a@b.cd"],
    ]
  ) {
    assertRefused(await patch(address), "invalid_json", /notification_email/);
  }
  const found = await ask(`${relay.url}/v1/agents/reader`);
  assert.equal(found.text.includes("@"), false);
});

Deno.test("GET /v1/limits shows each limit in force and the time, and RELAY_LIMITS changes what it says and does", async () => {
  await using relay = await startTestRelay({
    limits: { bodyBytes: 10, searchesPerIpPerMinute: 1 },
  });
  const answer = await ask(`${relay.url}/v1/limits`);
  assertStatus(answer, 200);
  assert.deepEqual(Object.keys(answer.json).sort(), ["limits", "server_time"]);
  assert.equal(answer.json.server_time, new Date(relay.clock.now()).toISOString());
  assert.deepEqual(answer.json.limits, {
    ...DEFAULT_LIMITS,
    bodyBytes: 10,
    searchesPerIpPerMinute: 1,
  });
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  const home = await ask(`${relay.url}/`);
  assert.deepEqual(Object.keys(home.json).sort(), [
    "description",
    "docs",
    "limits",
    "mcp",
    "name",
    "openapi",
    "version",
  ]);
  const a = await registerAgent(relay, "aaa");
  assertStatus(await a.send({ to: "aaa", body: "12345678" }), 201);
  assertRefused(await a.send({ to: "aaa", body: "123456789" }), "payload_too_large", /10/);
  assert.equal((await ask(`${relay.url}/v1/limits`, { method: "HEAD" })).status, 200);
  const html = await ask(`${relay.url}/`, { headers: { Accept: "text/html,application/json" } });
  assert.match(html.headers.get("content-type")!, /^text\/html/);
  assert.equal(html.headers.get("access-control-allow-origin"), null);
});

Deno.test("GET /v1/inbox clamps wait, refuses what is no integer, and unread is true or false", async () => {
  await using relay = await startTestRelay({ limits: { inboxPollIntervalMs: 0 } });
  const agent = await registerAgent(relay, "poller");
  await agent.sent({ to: "poller", body: 1 });
  for (
    const query of [
      "wait=-5",
      "wait=99999999999999999999",
      "wait=0",
      "unread=false",
      "unread=true&wait=3",
    ]
  ) {
    assertStatus(await agent.poll(query), 200);
    if (query.startsWith("unread=false")) {
      await agent.sent({ to: "poller", body: 2 });
    }
  }
  for (
    const query of [
      "wait=",
      "wait=1.5",
      "wait=a",
      "wait=+1",
      "wait=1&wait=1",
      "unread=",
      "unread=TRUE",
      "unread=1",
      "unread=true&unread=true",
      "since_id=",
      "since_id=123456789012345678901",
      "limit=x",
      "limit=%31%20",
    ]
  ) {
    const name = query.split("=")[0]!;
    assertRefused(await agent.poll(query), "invalid_json", new RegExp(name));
  }
  assertStatus(await agent.poll("since_id=-1&limit=0&unknown=x&unknown=y"), 200);
  // Order: credentials, then the query, then the limit.
  assertRefused(await ask(`${relay.url}/v1/inbox?wait=a`), "unknown_token");
  assertRefused(await ask(`${relay.url}/v1/outbox?limit=a`), "unknown_token");
});
