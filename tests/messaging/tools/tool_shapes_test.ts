/** What the tools answer. */
import assert from "node:assert/strict";
import { ask } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { callTool } from "../../support/tool_client.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

Deno.test("each tool answers exactly its fields", async () => {
  await using relay = await startTestRelay();
  const registered = await callTool(relay.url, "register", {
    handle: "@Shape_Tool",
    display_name: " S ",
    description: "d",
    tags: [" A ", "a", "b"],
  });
  assert.equal(registered.isError, false, registered.text);
  const { token, ...rest } = registered.structured;
  assert.match(token, /^rt_mcp_/);
  assert.deepEqual(Object.keys(rest).sort(), ["address", "handle", "key_custody", "word_name"]);
  assert.equal(rest.handle, "shape_tool");
  assert.equal(rest.key_custody, "relay");
  assert.match(registered.text, /recover/i);
  assert.ok(registered.text.includes(token));

  const whoami = await callTool(relay.url, "whoami", { token });
  const byRest = await ask(`${relay.url}/v1/whoami`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  assert.deepEqual(whoami.structured, byRest.json);
  assert.deepEqual(Object.keys(whoami.structured).sort(), [
    "address",
    "created_at",
    "description",
    "display_name",
    "handle",
    "key_custody",
    "tags",
    "word_name",
  ]);
  assert.deepEqual(whoami.structured.tags, ["a", "b"]);
  assert.equal(whoami.structured.display_name, "S");

  const peer = await registerAgent(relay, "peer");
  const sent = await callTool(relay.url, "send_message", { token, to: "@PEER", body: "hi" });
  assert.deepEqual(Object.keys(sent.structured).sort(), ["content_hash", "created_at", "id"]);
  await callTool(relay.url, "send_message", {
    token,
    to: "peer",
    subject: "s",
    body: "hi",
    in_reply_to: sent.structured.id,
  });
  await callTool(relay.url, "send_message", {
    token,
    to: "peer",
    body: ' {"subject": "deep", "n": 1.0}',
    content_type: "json",
  });
  const bodies = (await peer.inbox()).map(({ body, in_reply_to, content_type }) => ({
    body,
    in_reply_to,
    content_type,
  }));
  assert.deepEqual(bodies, [
    { body: { text: "hi" }, in_reply_to: null, content_type: "text" },
    { body: { subject: "s", text: "hi" }, in_reply_to: sent.structured.id, content_type: "text" },
    { body: { subject: "deep", n: 1 }, in_reply_to: null, content_type: "json" },
  ]);

  await peer.sent({ to: "shape_tool", body: { subject: "yes", text: "t" }, in_reply_to: 5 });
  await peer.sent({ to: "shape_tool", body: { subject: 7 } });
  await peer.sent({ to: "shape_tool", body: '["j"]', content_type: "json" });
  const inbox = await callTool(relay.url, "check_inbox", { token });
  assert.deepEqual(Object.keys(inbox.structured).sort(), ["last_id", "messages", "trust"]);
  assert.equal(inbox.structured.trust, "unverified sender content");
  const [first, second, third] = inbox.structured.messages;
  assert.deepEqual(Object.keys(first).sort(), [
    "body",
    "content_type",
    "created_at",
    "from",
    "from_handle",
    "from_word_name",
    "id",
    "in_reply_to",
    "subject",
  ]);
  assert.equal(first.subject, "yes");
  assert.equal(first.in_reply_to, 5);
  assert.deepEqual(first.body, { subject: "yes", text: "t" });
  assert.match(first.created_at, TIME);
  assert.equal("subject" in second, false);
  assert.equal(second.in_reply_to, null);
  assert.equal(third.content_type, "json");
  assert.equal(inbox.structured.last_id, third.id);

  const updated = await callTool(relay.url, "update_profile", {
    token,
    tags: ["z"],
    notification_email: "me@example.org",
  });
  assert.deepEqual(Object.keys(updated.structured).sort(), [
    "address",
    "created_at",
    "description",
    "display_name",
    "handle",
    "last_seen_at",
    "tags",
    "word_name",
  ]);
  assert.equal(JSON.stringify(updated).includes("example.org"), false);
  assert.equal(
    (await callTool(relay.url, "update_profile", { token, notification_email: null })).isError,
    false,
  );
  for (const [name, args] of [["find_agents", {}], ["list_agents", {}]] as const) {
    const listed = await callTool(relay.url, name, args);
    assert.deepEqual(Object.keys(listed.structured), ["agents"]);
    for (const agent of listed.structured.agents) {
      assert.deepEqual(Object.keys(agent).sort(), [
        "address",
        "created_at",
        "description",
        "display_name",
        "handle",
        "id",
        "tags",
        "word_name",
      ]);
    }
    assert.deepEqual(listed.structured.agents.map(({ id }: { id: number }) => id), [2, 1]);
  }
});
