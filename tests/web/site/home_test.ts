/** GET / as a page: figures, latest messages, ways to begin; the JSON stays as it is. */
import assert from "node:assert/strict";
import { ask } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { askPage, linksOf, textsOf } from "./page.ts";

const LATEST = /<ol class="events">([\s\S]*?)<\/ol>/;
const figures = (page: string) => textsOf(page, /<dd>([\d,]+)<\/dd>/g);

Deno.test("GET / says of an empty relay that nobody is here yet", async () => {
  await using relay = await startTestRelay();
  const { text } = await askPage(`${relay.url}/`);
  assert.match(text, /Nobody yet: be the first\./);
  assert.match(text, /No message yet\./);
  assert.doesNotMatch(text, LATEST);
});

Deno.test("GET / shows figures and the five latest messages, up to a second old", async () => {
  await using relay = await startTestRelay({ config: { baseUrl: "https://relay.test" } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob");
  assert.deepEqual(figures((await askPage(`${relay.url}/`)).text), ["2", "0", "0"]);
  for (let i = 0; i < 6; i++) await alice.sent({ to: "bob", body: i });
  relay.clock.advance(1_000);
  await bob.sent({ to: "alice", body: { text: "unseen_word" } });
  const { text, headers } = await askPage(`${relay.url}/`);
  assert.deepEqual(figures(text), ["2", "7", "2"]);
  const events = textsOf(LATEST.exec(text)![1]!, /<li>([\s\S]*?)<\/li>/g);
  assert.equal(events.length, 5);
  assert.equal(events[0], "@bob → @alice 2026-06-01 12:00:01 UTC");
  assert.doesNotMatch(text, /unseen_word/);
  assert.equal(headers.get("cache-control"), "no-cache");

  await alice.sent({ to: "bob", body: "new" });
  const tag = headers.get("etag")!;
  assert.equal((await askPage(`${relay.url}/`, { "If-None-Match": tag })).status, 304);
  relay.clock.advance(1_000);
  const later = await askPage(`${relay.url}/`, { "If-None-Match": tag });
  assert.equal(later.status, 200);
  assert.deepEqual(figures(later.text), ["2", "8", "2"]);
  const same = { "If-None-Match": later.headers.get("etag")! };
  relay.clock.advance(60_000);
  assert.equal((await askPage(`${relay.url}/`, same)).status, 304, "nothing changes by time alone");
});

Deno.test("GET / names this relay's address, and the limits in force", async () => {
  await using relay = await startTestRelay({
    config: { baseUrl: "https://relay.test" },
    limits: { sendsPerAgentPerMinute: 4_321, retentionDays: 9 },
  });
  const { text } = await askPage(`${relay.url}/`);
  assert.match(text, /claude mcp add --transport http relay https:\/\/relay\.test\/mcp/);
  assert.match(text, /export RELAY_URL=https:\/\/relay\.test\n/);
  assert.doesNotMatch(text, /127\.0\.0\.1:8000/);
  assert.match(text, /4,321 a minute, of one agent/);
  assert.match(text, /gone after 9 days/);
  const links = linksOf(text).filter((href) => href.startsWith("/") && href !== "/verify");
  assert.ok(links.length >= 5);
  for (const href of links) {
    assert.equal((await askPage(relay.url + href)).status, 200, href);
  }
});

Deno.test("GET / warns where the relay holds no keys", async () => {
  await using relay = await startTestRelay({ config: { hosted: true } });
  assert.match((await askPage(`${relay.url}/`)).text, /holds no keys at the moment/);
  await using other = await startTestRelay();
  assert.doesNotMatch((await askPage(`${other.url}/`)).text, /holds no keys/);
});

Deno.test("GET /?live=10 loads itself anew without a script, and leads back", async () => {
  await using relay = await startTestRelay();
  const still = await askPage(`${relay.url}/`);
  assert.equal(still.headers.get("refresh"), null);
  assert.match(still.text, /<script type="module" src="\/assets\/relay\.[0-9a-f]+\.js"><\/script>/);
  assert.ok(linksOf(still.text).includes("/?live=10"));
  const live = await askPage(`${relay.url}/?live=10`);
  assert.equal(live.headers.get("refresh"), "10");
  assert.doesNotMatch(live.text, /<script/);
  assert.match(live.text, /<a href="\/">Pause<\/a>/);
  assert.equal((await askPage(`${relay.url}/?live=1`)).status, 400);
  // Programs get what they always got, whatever the query.
  const facts = await ask(`${relay.url}/?live=1`);
  assert.equal(facts.headers.get("refresh"), null);
  assert.equal(
    facts.text,
    JSON.stringify({
      name: "Agent Messaging Relay",
      version: "0.2.1",
      description: "A store-and-forward messaging relay for software agents: each agent is an " +
        "Ed25519 key pair, each message carries its sender's signature.",
      docs: `${relay.url}/docs`,
      openapi: `${relay.url}/openapi.json`,
      mcp: `${relay.url}/mcp`,
      limits: `${relay.url}/v1/limits`,
    }),
  );
});

Deno.test("GET /contact names the operator, in whatever form", async () => {
  for (
    const [operatorContact, expected] of [
      [undefined, /has named no address \(RELAY_OPERATOR_CONTACT\)/],
      ["mailto:op%3F@example.org", /<a href="mailto:op%3F@example\.org">op\?@example\.org<\/a>/],
      [
        "https://example.org/%zz",
        /<a href="https:\/\/example\.org\/%zz">https:\/\/example\.org\/%zz</,
      ],
    ] as const
  ) {
    await using relay = await startTestRelay({ config: { operatorContact } });
    const { status, text } = await askPage(`${relay.url}/contact`);
    assert.equal(status, 200);
    assert.match(text, expected);
    assert.match((await askPage(`${relay.url}/nothing`)).text, /<a href="\/contact">/);
  }
});
