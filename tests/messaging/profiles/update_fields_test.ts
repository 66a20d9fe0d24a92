/** What PATCH /v1/agents/me takes in each field, and what it refuses. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

Deno.test("PATCH changes the fields given alone and answers the AgentProfile", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "patched", {
    profile: { display_name: "N", description: "D", tags: ["a", "b"] },
  });
  const patch = async (body: string) => {
    relay.clock.advance(1000);
    return await agent.call("PATCH", "/v1/agents/me", { body });
  };
  const first = await patch('{"tags":[" B ","c","b"]}');
  assertStatus(first, 200);
  assert.deepEqual(Object.keys(first.json).filter((name) => name !== "last_seen_at").sort(), [
    "address",
    "created_at",
    "description",
    "display_name",
    "handle",
    "tags",
    "word_name",
  ]);
  assert.deepEqual(first.json.tags, ["b", "c"]);
  assert.equal(first.json.display_name, "N");
  assert.equal(first.json.description, "D");
  const cases: [string, (json: Record<string, unknown>) => unknown, unknown][] = [
    ['{"display_name":"  x  "}', (json) => json.display_name, "x"],
    ['{"display_name":""}', (json) => json.display_name, ""],
    ['{"description":" a\\n\\tb "}', (json) => json.description, "a\n\tb"],
    ['{"tags":[]}', (json) => json.tags, []],
    ["{}", (json) => json.tags, []],
    [
      `{"description":"${"😀".repeat(500)}"}`,
      (json) => [...json.description as string].length,
      500,
    ],
    [`{"display_name":"${"é".repeat(100)}"}`, (json) => json.display_name, "é".repeat(100)],
    ['{"notification_email":null}', (json) => "notification_email" in json, false],
    ['{"notification_email":"me@example.org"}', (json) => "notification_email" in json, false],
    [
      `{"tags":[${Array.from({ length: 20 }, (_, i) => `"t${i % 10}"`)}]}`,
      (json) => (json.tags as string[]).length,
      10,
    ],
  ];
  for (const [body, read, expected] of cases) {
    const answer = await patch(body);
    assertStatus(answer, 200);
    assert.deepEqual(read(answer.json), expected, body.slice(0, 80));
  }
  const refused: [string, RegExp][] = [
    ["", /./],
    ["[]", /object/],
    ["null", /object/],
    ['{"handle":"x"}', /handle/],
    ['{"pubkey":"x"}', /pubkey/],
    ['{"__proto__":1}', /__proto__/],
    ['{"display_name":null}', /display_name/],
    ['{"description":null}', /description/],
    ['{"tags":null}', /tags/],
    ['{"tags":"a"}', /tags/],
    ['{"tags":[1]}', /tags/],
    ['{"tags":["a_b"]}', /tags/],
    ['{"tags":[""]}', /tags/],
    [`{"tags":["${"a".repeat(33)}"]}`, /tags/],
    [`{"tags":[${Array.from({ length: 11 }, (_, i) => `"t${i}"`)}]}`, /tags/],
    [`{"description":"${"x".repeat(501)}"}`, /description/],
    [`{"display_name":"${"x".repeat(101)}"}`, /display_name/],
    ['{"display_name":"a\\nb"}', /display_name/],
    ['{"display_name":"a\\u2028b"}', /display_name/],
    ['{"display_name":"a\\u061cb"}', /display_name/],
    ['{"display_name":"a\\u0085b"}', /display_name/],
    ['{"description":"a\\rb"}', /description/],
    ['{"description":"a\\u202eb"}', /description/],
    ['{"description":"a","description":"b"}', /twice|duplicate/],
    ['{"description":"ok","display_name":5}', /display_name/],
    ['{"description":"ok","nope":5}', /nope/],
  ];
  const before = (await ask(`${relay.url}/v1/agents/patched`)).json;
  for (const [body, names] of refused) {
    assertRefused(await patch(body), "invalid_json", names);
  }
  const after = (await ask(`${relay.url}/v1/agents/patched`)).json;
  delete before.last_seen_at;
  delete after.last_seen_at;
  assert.deepEqual(after, before);
  const big = await agent.call("PATCH", "/v1/agents/me", { body: " ".repeat(256 * 1024 + 1) });
  assertRefused(big, "payload_too_large");
});

Deno.test("PATCH /v1/agents/me by tool token works, by owner_token is a telling 401", async () => {
  await using relay = await startTestRelay();
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  const peer = await registerAgent(relay, "peer");
  const byToken = await tool.rest("PATCH", "/v1/agents/me", { display_name: " Tool " });
  assertStatus(byToken, 200);
  assert.equal(byToken.json.display_name, "Tool");
  assertRefused(
    await peer.bearer("PATCH", "/v1/agents/me", { body: { description: "x" } }),
    "unknown_token",
    /owner_token|sign/i,
  );
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
