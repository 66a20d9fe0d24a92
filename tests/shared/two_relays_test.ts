/** Rules of custody, keys, profiles and limits that hold whichever of two relays on one store is asked. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { makeStoreFolder, startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent, type TestAgent } from "../support/test_agent.ts";
import { callTool, ToolAgent } from "../support/tool_client.ts";

const ADMIN = "t".repeat(32);

interface World {
  a: TestRelay;
  b: TestRelay;
  /** The same two agents, at a and at b. */
  tool: [ToolAgent, ToolAgent];
  peer: [TestAgent, TestAgent];
}

/** Two relays on one file and one clock. */
async function withTwo(run: (world: World) => Promise<void>): Promise<void> {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    const options = {
      kvPath,
      config: { sharedStore: true, dataDir: dir, adminToken: ADMIN },
      limits: { searchesPerIpPerMinute: 5 },
    };
    await using a = await startTestRelay(options);
    await using b = await startTestRelay({ ...options, deps: { now: a.clock.now } });
    const tool = await ToolAgent.register(a.url, "tool_agent");
    const peer = await registerAgent(a, "peer");
    await run({
      a,
      b,
      tool: [tool, tool.at(b.url)],
      peer: [peer, peer.at({ url: b.url, clock: a.clock })],
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("poll floor and search limit are one over both relays and all doors", () =>
  withTwo(async ({ a, b, peer }) => {
    const polls = await Promise.all([
      peer[0].poll(),
      peer[1].bearer("GET", "/v1/inbox"),
      callTool(b.url, "check_inbox", { token: peer[0].ownerToken })
        .then(({ isError }) => ({ status: isError ? 429 : 200 })),
    ]);
    assert.deepEqual(polls.map(({ status }) => status).sort(), [200, 429, 429]);
    const searches = await Promise.all(
      Array.from({ length: 14 }, (_, i) => ask(`${[a, b][i % 2]!.url}/v1/agents?q=e`)),
    );
    assert.equal(searches.filter(({ status }) => status === 200).length, 5);
    for (const answer of searches) if (answer.status !== 200) assertRefused(answer, "rate_limited");
  }));

Deno.test("PATCHes of different fields at once lose none, and one repeated at the other relay changes nothing", () =>
  withTwo(async ({ a, b, peer }) => {
    const timestamp = a.clock.seconds();
    const patch = (at: number, body: Record<string, string | string[]>, second = timestamp) =>
      peer[at]!.call("PATCH", "/v1/agents/me", { body, timestamp: second });
    const answers = await Promise.all([
      patch(0, { description: "first" }),
      patch(1, { display_name: "N" }),
      patch(0, { tags: ["t"] }),
      patch(1, { notification_email: "a@example.org" }),
    ]);
    for (const answer of answers) assertStatus(answer, 200);
    const { description, display_name, tags } = (await ask(`${b.url}/v1/agents/peer`)).json;
    assert.deepEqual({ description, display_name, tags }, {
      description: "first",
      display_name: "N",
      tags: ["t"],
    });
    assertStatus(await patch(0, { description: "second" }, timestamp + 1), 200);
    const repeated = await patch(1, { description: "first" });
    assertStatus(repeated, 200);
    assert.equal(repeated.json.description, "second");
    // Nor does it subscribe again what was unsubscribed.
    const token = await unsubscribeToken(a);
    assert.match(token!, /^rt_unsub_/);
    assertStatus(await ask(`${b.url}/v1/notifications/unsubscribe?token=${token}`), 200);
    assertStatus(await patch(0, { notification_email: "a@example.org" }), 200);
    assert.equal(await unsubscribeToken(b), undefined);
    a.clock.advance(2000);
    const found = await ask(`${b.url}/v1/agents?q=second`);
    assert.deepEqual(found.json.agents.map(({ handle }: { handle: string }) => handle), ["peer"]);
  }));

Deno.test("a ban at one relay holds at once at the other; figures and directory follow, and unban undoes it", () =>
  withTwo(async ({ a, b, tool, peer }) => {
    assertStatus(await tool[0].rest("POST", "/v1/messages", { to: "peer", body: 1 }), 201);
    const admin = (url: string, verb: string) =>
      ask(`${url}/v1/admin/${verb}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${ADMIN}` },
        body: JSON.stringify({ pubkey: peer[0].address }),
      });
    const figures = async (url: string) => {
      a.clock.advance(60_000);
      const [stats, feed, board, browse] = await Promise.all(
        ["stats", "feed", "leaderboard", "agents"].map((path) => ask(`${url}/v1/${path}`)),
      );
      return [
        stats!.json.total_messages,
        stats!.json.total_agents,
        feed!.json.events.length,
        board!.json.agents.length,
        browse!.json.agents.length,
      ];
    };
    assert.deepEqual(await figures(b.url), [1, 2, 1, 1, 2]);
    assertStatus(await admin(a.url, "ban"), 200);
    assertRefused(
      await tool[1].rest("POST", "/v1/messages", { to: "peer", body: 2 }),
      "recipient_banned",
    );
    assertRefused(await ask(`${b.url}/v1/agents/peer`), "not_found");
    assertRefused(
      await peer[1].call("PATCH", "/v1/agents/me", { body: { description: "x" } }),
      "banned",
    );
    assertRefused(await peer[1].send({ to: "tool_agent", body: 1 }), "banned");
    assert.deepEqual(await figures(b.url), [1, 1, 0, 0, 1]);
    assertStatus(await admin(b.url, "unban"), 200);
    assertStatus(await ask(`${a.url}/v1/agents/peer`), 200);
    assert.deepEqual(await figures(a.url), [1, 2, 1, 1, 2]);
  }));

Deno.test("an export at one of two relays that sends run into gives the key once and ends the token at both", () =>
  withTwo(async ({ tool, peer, a }) => {
    const exporting = Promise.all(tool.map((agent) => agent.rest("POST", "/v1/keys/export")));
    const sending = Promise.all(Array.from(
      { length: 8 },
      (_, i) => tool[i % 2]!.rest("POST", "/v1/messages", { to: "peer", body: { i } }),
    ));
    const exports = await exporting;
    assert.deepEqual(exports.map(({ status }) => status).sort(), [200, 401]);
    const sent = await sending;
    for (const { status, json } of sent) {
      // Beyond the first check of the token, the agent is one of self-custody already.
      assert.ok(
        status === 201 || ["unknown_token", "key_required"].includes(json.error.code),
        JSON.stringify(json),
      );
    }
    for (const agent of tool) {
      assertRefused(await agent.rest("GET", "/v1/whoami"), "unknown_token");
    }
    a.clock.advance(2000);
    const stored = sent.filter(({ status }) => status === 201).length;
    assert.equal((await peer[1].poll()).json.messages.length, stored);
  }));

async function unsubscribeToken(relay: TestRelay): Promise<string | undefined> {
  const rows = relay.deps.kv.list<{ unsubscribeToken: string }>({ prefix: ["notify"] });
  for await (const { value } of rows) return value.unsubscribeToken;
}
