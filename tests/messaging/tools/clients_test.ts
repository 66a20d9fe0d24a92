/** Both official clients over real HTTP: the whole run of an agent's life, and each kind of error. */
import assert from "node:assert/strict";
import { verifyMessage } from "../../../toolkit/mod.ts";
import { officialClients } from "../../support/official_clients.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { assertToolRefused, TOOL_NAMES, type ToolArgs } from "../../support/tool_client.ts";
import { VERSION } from "../../../server/base/version.ts";

for (const { name, connect } of officialClients) {
  Deno.test(`${name}: register, whoami, send, check, find, update, list`, async () => {
    await using relay = await startTestRelay();
    await using client = await connect(relay.url);
    assert.deepEqual(client.serverInfo()?.name, "agent-messaging-relay");
    assert.equal(client.serverInfo()?.version, VERSION);
    assert.match(client.instructions() ?? "", /Register once/);
    assert.deepEqual((await client.listTools()).map((tool) => tool.name), [...TOOL_NAMES]);

    const profile = { display_name: "A", description: "first", tags: ["b", "a"] };
    const first = (await client.call("register", { handle: "@First", ...profile })).structured;
    const second = (await client.call("register", { handle: "second" })).structured;
    assert.equal(first.handle, "first");
    assert.equal(first.key_custody, "relay");
    assert.match(first.token, /^rt_mcp_/);

    const { token } = first;
    const whoami = await client.call("whoami", { token });
    assert.deepEqual(whoami.structured, {
      handle: "first",
      word_name: first.word_name,
      address: first.address,
      key_custody: "relay",
      ...profile,
      created_at: new Date(relay.clock.now()).toISOString(),
    });
    assert.match(whoami.text, new RegExp(first.address));

    const sent = await client.call("send_message", {
      token,
      to: second.word_name,
      subject: "greeting",
      body: "hello",
    });
    const document = await client.call("send_message", {
      token,
      to: "second",
      body: '{"b": 1, "a": [true]}',
      content_type: "json",
    });
    const inbox = await client.call("check_inbox", { token: second.token });
    assert.equal(inbox.structured.last_id, document.structured.id);
    assert.equal(inbox.structured.trust, "unverified sender content");
    const from = {
      from: first.address,
      from_handle: "first",
      from_word_name: first.word_name,
    };
    assert.deepEqual(inbox.structured.messages, [
      {
        id: sent.structured.id,
        ...from,
        subject: "greeting",
        body: { subject: "greeting", text: "hello" },
        in_reply_to: null,
        content_type: "text",
        created_at: sent.structured.created_at,
      },
      {
        id: document.structured.id,
        ...from,
        body: { a: [true], b: 1 },
        in_reply_to: null,
        content_type: "json",
        created_at: document.structured.created_at,
      },
    ]);

    await client.call("send_message", {
      token: second.token,
      to: "first",
      body: "hello yourself",
      in_reply_to: sent.structured.id,
    });
    const reply = (await client.call("check_inbox", { token })).structured.messages[0];
    assert.equal(reply.in_reply_to, sent.structured.id);
    assert.deepEqual(reply.body, { text: "hello yourself" });

    const found = await client.call("find_agents", { query: "FIRST", tags: ["a"] });
    assert.deepEqual(found.structured.agents.map(({ handle }: { handle: string }) => handle), [
      "first",
    ]);
    const updated = await client.call("update_profile", { token, tags: ["z"], description: "new" });
    assert.deepEqual(updated.structured.tags, ["z"]);
    assert.equal(updated.structured.description, "new");
    assert.equal(updated.structured.display_name, "A");
    const listed = await client.call("list_agents", { limit: 5 });
    assert.deepEqual(listed.structured.agents.map(({ handle }: { handle: string }) => handle), [
      "second",
      "first",
    ]);
  });

  Deno.test(`${name}: every kind of error comes back as the tool's answer`, async () => {
    await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 1 } });
    await using client = await connect(relay.url);
    const { token } = (await client.call("register", { handle: "caller" })).structured;
    await client.call("register", { handle: "other" });
    const refused = async (tool: string, args: Parameters<typeof client.call>[1], code: string) =>
      assertToolRefused(await client.call(tool, args), code);
    await refused("register", { handle: "no" }, "invalid_handle");
    await refused("register", { handle: "admin" }, "reserved_handle");
    await refused("register", { handle: "caller" }, "handle_taken");
    await refused("register", {}, "invalid_json");
    await refused("whoami", {}, "unknown_token");
    await refused("whoami", { token: "rt_mcp_nonsense" }, "unknown_token");
    await refused("whoami", { token: 7 }, "invalid_json");
    await refused("send_message", { token, to: "nobody_here", body: "a" }, "not_found");
    await refused("send_message", { token, to: "other" }, "invalid_json");
    const large = { token, to: "other", body: "x".repeat(66_000) };
    await refused("send_message", large, "payload_too_large");
    assert.equal(
      (await client.call("send_message", { token, to: "other", body: "a" })).isError,
      false,
    );
    await refused("send_message", { token, to: "other", body: "b" }, "rate_limited");
    await client.call("check_inbox", { token });
    const polled = await client.call("check_inbox", { token });
    assertToolRefused(polled, "rate_limited");
    assert.equal(polled.error!.retry_after_ms, 2000);
    assert.match(polled.text, / retry_after_ms=2000$/);
    await refused("update_profile", { token, handle: "other_name" }, "invalid_json");
    await refused("find_agents", { tags: ["not a tag!"] }, "invalid_json");
    await refused("list_agents", { limit: 1.5 }, "invalid_json");
    await assert.rejects(client.call("no_such_tool"), /no_such_tool/);
  });

  Deno.test(`${name}: converses with an agent that signs over REST, which verifies every message`, async () => {
    await using relay = await startTestRelay();
    await using client = await connect(relay.url);
    const tool = (await client.call("register", { handle: "tool_agent" })).structured;
    const rest = await registerAgent(relay, "rest_agent");
    let inReplyTo: number | null = null;
    for (let turn = 0; turn < 3; turn++) {
      const sent = await client.call("send_message", {
        token: tool.token,
        to: rest.wordName,
        subject: `turn ${turn}`,
        body: "the same words",
        in_reply_to: inReplyTo,
      });
      const [received] = await rest.inbox("unread=true");
      assert.equal(received.id, sent.structured.id);
      const report = await verifyMessage(received, {
        recipient: { address: rest.address },
        from: tool.address,
      });
      assert.equal(report.signature, "valid");
      assert.equal(report.body, "bound");
      assert.equal(report.addressee, "key");
      inReplyTo = await rest.sent({
        to: "tool_agent",
        body: { text: `answer ${turn}` },
        in_reply_to: received.id,
      });
      const { messages } = (await client.call("check_inbox", {
        token: tool.token,
        unread_only: true,
      })).structured;
      assert.deepEqual(messages.map(({ id }: { id: number }) => id), [inReplyTo]);
    }
    assert.ok((await rest.outbox()).every(({ delivered_at }) => delivered_at !== null));
  });
}

Deno.test("the Authorization header stands in for an absent token, and gives way to a given one", async () => {
  assert.equal(officialClients.length, 4);
  for (const { connect } of officialClients) {
    await using relay = await startTestRelay();
    await using plain = await connect(relay.url);
    const one = (await plain.call("register", { handle: "one" })).structured;
    const two = (await plain.call("register", { handle: "two" })).structured;
    await using client = await connect(relay.url, { Authorization: `Bearer ${one.token}` });
    for (const args of [{}, { token: "" }] as ToolArgs[]) {
      assert.equal((await client.call("whoami", args)).structured.handle, "one");
    }
    const given = await client.call("whoami", { token: two.token });
    assert.equal(given.structured.handle, "two");
    assertToolRefused(await client.call("whoami", { token: "x" }), "unknown_token");
  }
});
