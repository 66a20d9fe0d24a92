/** GET /agents and GET /agents/{handle}: the directory and its agents as pages. */
import assert from "node:assert/strict";
import { ask, assertRefused } from "../../support/answer.ts";
import { ADMIN_TOKEN, setBanned } from "../../support/figures.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent, registerAgents } from "../../support/test_agent.ts";
import { callTool } from "../../support/tool_client.ts";
import { askPage, BROWSER, linksOf, plain, textsOf } from "./page.ts";

const options = {
  config: { adminToken: ADMIN_TOKEN, baseUrl: "https://relay.test" },
  limits: { registrationsPerIpPerHour: 500 },
};
const handlesOf = (page: string) => textsOf(page, /<a class="handle"[^>]*>([^<]*)<\/a>/g);
const older = (page: string) => linksOf(page).find((href) => /before_id|offset/.test(href));
const HOSTILE = `<script>alert(1)</script><b title="x">&' https://evil.example/`;

Deno.test("GET /agents shows fifty at a time, the newest first", async () => {
  await using relay = await startTestRelay(options);
  assert.match((await askPage(`${relay.url}/agents`)).text, /Nobody yet: be the first\./);
  const handles = Array.from({ length: 120 }, (_, i) => `agent_${i + 1}`);
  await registerAgents(relay, ...handles);
  relay.clock.advance(1_000);
  const seen: string[] = [];
  const sizes: number[] = [];
  let path: string | undefined = "/agents";
  while (path !== undefined) {
    const { text } = await askPage(relay.url + path);
    sizes.push(handlesOf(text).length);
    seen.push(...handlesOf(text));
    path = older(text);
  }
  assert.deepEqual(sizes, [50, 50, 20]);
  assert.deepEqual(seen, handles.toReversed().map((handle) => `@${handle}`));
});

Deno.test("GET /agents finds by words and tags, the newest first, and keeps them in its links", async () => {
  await using relay = await startTestRelay(options);
  for (let i = 0; i < 60; i++) {
    const profile = { description: "Weather & <more>", tags: i < 55 ? ["oslo", "rain"] : ["oslo"] };
    await registerAgent(relay, `weather_${i}`, { profile });
  }
  await registerAgent(relay, "other");
  const first = (await askPage(`${relay.url}/agents?q=weather+%26+%3Cm&tags=rain%2COslo`)).text;
  assert.deepEqual(handlesOf(first).slice(0, 2), ["@weather_54", "@weather_53"]);
  assert.equal(handlesOf(first).length, 50);
  assert.match(first, /value="weather &amp; &lt;m"/);
  assert.match(first, /value="rain,Oslo"/);
  const second = (await askPage(relay.url + older(first)!)).text;
  assert.deepEqual(handlesOf(second).at(-1), "@weather_0");
  assert.equal(handlesOf(second).length, 5);
  assert.equal(older(second), undefined);
  const none = (await askPage(`${relay.url}/agents?q=nobody_like_that`)).text;
  assert.match(none, /No agent matches\./);
  const tag = linksOf(first).find((href) => href.includes("tags=rain"))!;
  assert.equal(handlesOf((await askPage(relay.url + tag)).text).length, 50);
});

Deno.test("GET /agents counts a search with those of the API, and keeps it where there were too many", async () => {
  await using relay = await startTestRelay({
    ...options,
    limits: { ...options.limits, searchesPerIpPerMinute: 3 },
  });
  await registerAgent(relay, "alice");
  assert.equal((await ask(`${relay.url}/v1/agents?q=a`)).status, 200);
  for (const q of ["al", "ali"]) {
    assert.equal((await askPage(`${relay.url}/agents?q=${q}`)).status, 200);
  }
  await ask(`${relay.url}/agents?q=a`, { method: "HEAD" });
  const refused = await askPage(`${relay.url}/agents?q=%3Calice%3E&tags=x`);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.match(plain(refused.text), /Too many searches .* Search again in 60 s/);
  assert.match(refused.text, /value="&lt;alice&gt;"/);
  assert.match(refused.text, /value="x"/);
  assert.match(refused.text, /<code>rate_limited<\/code>/);
  assertRefused(await ask(`${relay.url}/agents?q=alice`), "rate_limited");
  assertRefused(await ask(`${relay.url}/v1/agents?q=a`), "rate_limited");
  // Browsing is not limited.
  assert.equal((await askPage(`${relay.url}/agents`)).status, 200);
  relay.clock.advance(60_000);
  assert.deepEqual(handlesOf((await askPage(`${relay.url}/agents?q=alice`)).text), ["@alice"]);
});

Deno.test("GET /agents says what is wrong with a search, and keeps it", async () => {
  await using relay = await startTestRelay(options);
  for (const query of [`q=${"x".repeat(201)}`, "tags=no+tag+like+this", "tags=%3Cb%3E"]) {
    const { status, text } = await askPage(`${relay.url}/agents?${query}`);
    assert.equal(status, 400);
    assert.match(text, /<code>invalid_json<\/code>/);
    assert.match(text, /value="(x{201}|no tag like this|&lt;b&gt;)"/);
    assertRefused(await ask(`${relay.url}/agents?${query}`), "invalid_json");
  }
  // What no form sends is refused as everywhere.
  for (const query of ["before_id=x", "offset=-", "q=a&q=b", "q=%zz", "live=1"]) {
    assert.equal((await askPage(`${relay.url}/agents?${query}`)).status, 400, query);
  }
});

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`GET /agents/{handle} shows an agent, and by its other names leads there, on ${store}`, async () => {
    await using relay = await startTestRelay({
      ...options,
      config: { ...options.config, sharedStore },
    });
    const profile = { display_name: "Alice", description: HOSTILE, tags: ["weather"] };
    const alice = await registerAgent(relay, "alice", { profile });
    const { status, text, headers } = await askPage(`${relay.url}/agents/alice`);
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.match(text, /<meta name="robots" content="noindex">/);
    assert.match(text, /<h1><bdi>@alice<\/bdi><\/h1>/);
    assert.match(text, /<span class="badge">holds its own key<\/span>/);
    assert.match(text, /self-described/);
    const shown = /<dt>Description<\/dt><dd><bdi>(.*?)<\/bdi><\/dd>/.exec(text)![1]!;
    assert.doesNotMatch(shown, /</);
    assert.equal(plain(shown), HOSTILE);
    assert.ok(text.includes(`<code class="copy">${alice.wordName}</code>`));
    assert.ok(text.includes(`<code class="copy">${alice.address}</code>`));
    assert.ok(linksOf(text).includes(`/verify#from=${alice.address}`));
    assert.ok(linksOf(text).every((href) => href.startsWith("/")), "nothing of it is a link");
    for (const name of [alice.wordName, alice.address, "%40alice", "ALICE"]) {
      const other = await askPage(`${relay.url}/agents/${name}`);
      assert.deepEqual([other.status, other.headers.get("location")], [302, "/agents/alice"], name);
    }
  });

  Deno.test(`GET /agents/{handle} answers alike for an unknown agent and a banned one, on ${store}`, async () => {
    await using relay = await startTestRelay({
      ...options,
      config: { ...options.config, sharedStore },
    });
    const [alice] = await registerAgents(relay, "alice");
    const names = ["alice", alice.wordName, alice.address, "%40alice"];
    assert.equal((await askPage(`${relay.url}/agents/alice`)).status, 200);
    await setBanned(relay, alice, true);
    const unknown = await askPage(`${relay.url}/agents/nobody`);
    assert.equal(unknown.status, 404);
    for (const name of names) {
      const banned = await askPage(`${relay.url}/agents/${name}`);
      assert.equal(banned.status, 404);
      const asked = decodeURIComponent(name);
      assert.equal(banned.text.replace(`value="${asked}"`, 'value="nobody"'), unknown.text);
      assertRefused(await ask(`${relay.url}/agents/${name}`), "not_found");
    }
    await setBanned(relay, alice, false);
    assert.equal((await askPage(`${relay.url}/agents/alice`)).status, 200);
  });
}

Deno.test("GET /agents/{handle} says whose hand signs, before and after an export", async () => {
  await using relay = await startTestRelay(options);
  const { structured: { token } } = await callTool(relay.url, "register", { handle: "held" });
  const badge = async () =>
    textsOf(
      (await askPage(`${relay.url}/agents/held`)).text,
      /<span class="badge[^"]*">(.*?)<\/span>/g,
    );
  assert.deepEqual(await badge(), ["the relay signs for it"]);
  const exported = await ask(`${relay.url}/v1/keys/export`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
  });
  assert.equal(exported.status, 200);
  assert.deepEqual(await badge(), ["holds its own key"]);
});

Deno.test("GET /agents/{handle} takes any text for a name", async () => {
  await using relay = await startTestRelay(options);
  for (
    const name of [
      encodeURIComponent(HOSTILE.replaceAll("/", "")),
      "%E2%80%AE",
      "a".repeat(2_000),
      "-",
    ]
  ) {
    const { status, text } = await askPage(`${relay.url}/agents/${name}`);
    assert.equal(status, 404, name);
    assert.doesNotMatch(text, /<script>|<b title/);
  }
});

Deno.test("pages that are made for few are counted while they are taken, those for all are not", async () => {
  const bounds = { totalBytes: 200_000, anybodyBytes: 100_000, idleMs: 30_000 };
  await using relay = await startTestRelay({ ...options, relay: { answers: { bounds } } });
  // As long as a profile's text can be shown: each character as its code point.
  const profile = { description: "\u{e0041}".repeat(500) };
  for (let i = 0; i < 60; i++) await registerAgent(relay, `agent_${i}`, { profile });
  const statuses = async (...paths: string[]) => {
    const answers: Response[] = [];
    for (const path of paths) {
      const request = new Request(relay.url + path, { headers: BROWSER });
      answers.push(await relay.relay.app.fetch(request));
    }
    for (const { body } of answers) await body!.cancel();
    return answers.map(({ status }) => status);
  };
  assert.deepEqual(await statuses("/agents", "/agents", "/agents?live=10"), [200, 200, 200]);
  assert.deepEqual(await statuses("/agents?q=agent", "/agents?q=agent_"), [200, 503]);
  assert.deepEqual(await statuses("/agents?before_id=60", "/agents?before_id=59"), [200, 503]);
});
