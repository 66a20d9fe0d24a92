import assert from "node:assert/strict";
import { startApp } from "../../support/app_server.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { silentStore } from "../../support/silent_store.ts";
import { signIn, visit } from "../../messaging/operator/operator.ts";

const BASE = { baseUrl: "https://relay.test" };

Deno.test("GET / tells programs where everything is", async () => {
  await using app = await startTestRelay({ config: BASE });
  const accepts = [
    "*/*",
    "application/json",
    "text/htmlx",
    "*/*, text/html;q=0",
    "text/html; Q=0.0 ",
  ];
  for (const accept of accepts) {
    const answer = await fetch(`${app.url}/`, { headers: { accept } });
    assert.equal(answer.status, 200);
    assert.ok(answer.headers.get("vary")?.split(", ").includes("Accept"));
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    const { name, description, ...rest } = await answer.json();
    assert.ok(name.length > 0 && description.length > 0);
    assert.deepEqual(rest, {
      version: "0.2.1",
      docs: "https://relay.test/docs",
      openapi: "https://relay.test/openapi.json",
      mcp: "https://relay.test/mcp",
      limits: "https://relay.test/v1/limits",
    });
  }
});

Deno.test("OPTIONS / tells scripts of any origin which methods and headers they may use", async () => {
  await using app = await startTestRelay({ config: BASE });
  const answer = await fetch(`${app.url}/`, {
    method: "OPTIONS",
    headers: { "Access-Control-Request-Headers": "x-relay-later" },
  });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS");
  const allowed = answer.headers.get("access-control-allow-headers")!.split(", ");
  assert.ok(allowed.includes("Authorization") && allowed.includes("x-relay-later"));
});

Deno.test("GET / shows people a page that loads files of the relay alone", async () => {
  await using app = await startTestRelay({ config: BASE });
  const accepts = [
    "text/html,image/webp;q=0",
    "image/webp, TEXT/HTML;q=0.1",
    "text/html;q=0.05,*/*",
  ];
  for (const accept of accepts) {
    const answer = await fetch(`${app.url}/`, { headers: { accept } });
    assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
    assert.match(answer.headers.get("content-security-policy")!, /default-src 'none'/);
    const page = await answer.text();
    assert.match(page, /<html lang="en">/);
    assert.match(page, /<title>[^<]+<\/title>/);
    assert.match(page, /<h1>/);
    assert.doesNotMatch(page, /<script>|<(style|iframe)\b|\sstyle=|@import|url\(/i);
    const loaded = [...page.matchAll(/<(?:link|img|script) [^>]*(?:href|src)="([^"]*)"/g)];
    assert.equal(loaded.length, 4);
    for (const [, target] of loaded) assert.match(target!, /^\/assets\/relay\.[0-9a-f]{16}\./);
    const links = [...page.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, target]) => target!);
    for (const path of ["/docs", "/openapi.json", "/v1/limits", "/network", "/agents"]) {
      assert.ok(links.includes(path), path);
    }
    for (const target of links) assert.match(target, /^\/(?!\/)|^\?live=10$|^#main$/);
  }
});

Deno.test("GET /health never touches the database", async () => {
  await using app = await startApp([], {
    isDatabaseAlive: () => assert.fail("the database was asked"),
  });
  const answer = await fetch(`${app.url}/health`);
  assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }]);
});

Deno.test("GET /health and the operator's page tell of a clock that is not steady", async () => {
  await using relay = await startTestRelay({ config: { adminToken: ADMIN_TOKEN } });
  const told = async () => {
    const cookie = await signIn(relay);
    const { text } = await visit(relay, "/admin", { cookie });
    const [, notice] = /<p class="notice [a-z]+">([^]*?)<\/p>/.exec(text) ?? [];
    return [await (await fetch(`${relay.url}/health`)).json(), notice?.slice(0, 20)];
  };
  const { clock } = relay;
  const steady = [{ ok: true }, undefined];
  assert.deepEqual(await told(), steady);
  clock.leap(3_600_000);
  const unsure = { state: "unsure", ahead_ms: 3_600_000, left_ms: 60_000 };
  assert.deepEqual(await told(), [{ ok: true, clock: unsure }, "The clock leapt ahea"]);
  const { text } = await visit(relay, "/admin", { cookie: await signIn(relay) });
  assert.match(text, /leapt ahead by 60 minutes, [^]* 503 for 60 seconds more/);
  clock.advance(60_000);
  assert.deepEqual(await told(), steady);
  const until = new Date(clock.now()).toISOString();
  clock.leap(-1_800_000);
  assert.deepEqual(await told(), [
    { ok: true, clock: { state: "behind", until } },
    "The clock went back.",
  ]);
  clock.advance(1_800_000);
  assert.deepEqual(await told(), steady);
  clock.leap(Date.UTC(2095, 0, 1) - clock.now());
  const impossible = { state: "impossible" };
  assert.deepEqual(await told(), [{ ok: true, clock: impossible }, "The clock is not bet"]);
});

Deno.test("GET /health/db answers 200 for a living database and 500 internal for a dead one", async () => {
  let alive = true;
  await using app = await startApp([], { isDatabaseAlive: () => Promise.resolve(alive) });
  const living = await fetch(`${app.url}/health/db`);
  assert.deepEqual([living.status, await living.json()], [200, { ok: true, db: true }]);
  alive = false;
  const dead = await fetch(`${app.url}/health/db`);
  assert.equal(dead.status, 500);
  const { error, ...rest } = await dead.json();
  assert.deepEqual([error.code, rest], ["internal", {}]);
  assert.match(error.message, /database does not answer/);
});

Deno.test("GET /health/db of a relay reads its store", async () => {
  using memory = await openMemoryKv();
  const store = silentStore(memory);
  await using relay = await startTestRelay({ deps: { kv: store.kv } });
  const answer = await fetch(`${relay.url}/health/db`);
  assert.deepEqual(await answer.json(), { ok: true, db: true });
  store.failAfter(0, "disk I/O error");
  const failing = await fetch(`${relay.url}/health/db`);
  assert.equal((await failing.json()).error.code, "internal");
  store.speak();
});
