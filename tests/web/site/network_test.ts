/** GET /network: the public figures as a page. */
import assert from "node:assert/strict";
import { assertRefused } from "../../support/answer.ts";
import { ADMIN_TOKEN, setBanned } from "../../support/figures.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent, registerAgents } from "../../support/test_agent.ts";
import { ask } from "../../support/answer.ts";
import { askPage, linksOf, textsOf } from "./page.ts";

const DAY_MS = 86_400_000;
const options = {
  config: { adminToken: ADMIN_TOKEN },
  limits: { registrationsPerIpPerHour: 200, sendsPerAgentPerMinute: 1_000 },
};

const eventsOf = (page: string) => textsOf(page, /<li><span>([\s\S]*?)<\/span> <time/g);
const leadersOf = (page: string) => textsOf(page, /<tr><td class="number">([\s\S]*?)<\/tr>/g);
const weekOf = (page: string) =>
  textsOf(page, /<span class="count"[^>]*>([^<]*)<\/span>/g).map(Number);

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`GET /network shows totals, the days of the week, leaders and feed, on ${store}`, async () => {
    await using relay = await startTestRelay({
      ...options,
      config: { ...options.config, sharedStore },
    });
    const [alice, bob] = await registerAgents(relay, "alice", "bob");
    const empty = (await askPage(`${relay.url}/network`)).text;
    assert.match(empty, /No message here\./);
    assert.match(empty, /Nobody has sent anything this week\./);
    assert.deepEqual(weekOf(empty), [0, 0, 0, 0, 0, 0, 0]);

    const perDay = [9, 1, 0, 3, 0, 2, 4, 5];
    for (const [day, messages] of perDay.entries()) {
      for (let i = 0; i < messages; i++) await alice.sent({ to: "bob", body: `${day}/${i}` });
      if (day % 2 === 1) await relay.relay.crons.figures!(); // folds some of it, and leaves the rest
      if (day < perDay.length - 1) relay.clock.advance(DAY_MS);
    }
    await bob.sent({ to: "alice", body: "unseen_word" });
    const { text } = await askPage(`${relay.url}/network`);
    assert.deepEqual(weekOf(text), [1, 0, 3, 0, 2, 4, 6], "the last seven days of UTC");
    // The window of the leaderboard has the last minute of the first day, too.
    assert.deepEqual(leadersOf(text), ["1@alice24", "2@bob1"]);
    assert.match(text, /<dd>25<\/dd>/);
    assert.match(text, /<dt>senders this week<\/dt><dd>2<\/dd>/);
    const events = eventsOf(text);
    assert.equal(events.length, 25);
    assert.equal(events[0], "@bob → @alice");
    assert.match(
      text,
      /Handles and times only\. Subjects, bodies, hashes and keys are never public\./,
    );
    assert.doesNotMatch(text, /unseen_word/);
  });
}

Deno.test("GET /network counts neither test traffic nor banned senders of the week", async () => {
  await using relay = await startTestRelay(options);
  const [alice, bob] = await registerAgents(relay, "alice", "bob", "qa_robot");
  await alice.sent({ to: "bob", body: 1 });
  await alice.sent({ to: "qa_robot", body: 1 });
  await bob.sent({ to: "alice", body: 1 });
  const read = async () => {
    relay.clock.advance(1_000);
    const { text } = await askPage(`${relay.url}/network`);
    return [weekOf(text).at(-1), leadersOf(text), eventsOf(text)];
  };
  assert.deepEqual(await read(), [2, ["1@alice1", "2@bob1"], ["@bob → @alice", "@alice → @bob"]]);
  await setBanned(relay, alice, true);
  assert.deepEqual(await read(), [0, [], []]);
  await setBanned(relay, alice, false);
  assert.deepEqual((await read())[0], 2);
});

Deno.test("GET /network leads to older messages, fifty at a time, to the end", async () => {
  await using relay = await startTestRelay(options);
  const [alice] = await registerAgents(relay, "alice", "bob");
  for (let i = 0; i < 120; i++) {
    await alice.sent({ to: "bob", body: i });
    relay.clock.advance(1_000);
  }
  const times: string[] = [];
  let path: string | undefined = "/network";
  const pages: number[] = [];
  while (path !== undefined) {
    const { text, status }: { text: string; status: number } = await askPage(relay.url + path);
    assert.equal(status, 200);
    const shown = textsOf(text, /<\/span> (<time [\s\S]*?<\/time>)/g);
    pages.push(shown.length);
    times.push(...shown);
    path = linksOf(text).find((href) => href.includes("before_id"));
  }
  assert.deepEqual(pages, [50, 50, 20]);
  assert.equal(new Set(times).size, 120);
  assert.deepEqual(times, times.toSorted().toReversed());
});

Deno.test("GET /network refuses a malformed query, to programs in JSON", async () => {
  await using relay = await startTestRelay();
  for (const query of ["before_id=x", "live=3", "before_id=1&before_id=2"]) {
    const page = await askPage(`${relay.url}/network?${query}`);
    assert.equal(page.status, 400);
    assert.match(page.text, /<code>invalid_json<\/code>/);
    assertRefused(await ask(`${relay.url}/network?${query}`), "invalid_json");
  }
  assert.match((await askPage(`${relay.url}/network?before_id=1`)).text, /No message here\./);
});

Deno.test("pages in their hundreds leave the store to signed requests", async () => {
  await using relay = await startTestRelay({ ...options, limits: { inboxPollIntervalMs: 0 } });
  const alice = await registerAgent(relay, "alice");
  const pages = Array.from(
    { length: 300 },
    (_, i) => askPage(`${relay.url}/network?before_id=${i + 1}`),
  );
  const poll = await alice.poll();
  assert.equal(poll.status, 200);
  const answers = await Promise.all(pages);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});
