/** What tools/list tells: exactly these, in order, each complete; and the page that documents them. */
import assert from "node:assert/strict";
import { startTestRelay } from "../../support/relay.ts";
import { postRpc, rpcRequest, TOOL_NAMES } from "../../support/tool_client.ts";

/** Arguments of the specification (section 4.6), optional ones with ?, and the additions. */
const ARGUMENTS: Record<string, string> = {
  register: "handle, display_name?, description?, tags?",
  whoami: "token?",
  send_message: "token?, to, subject?, body, in_reply_to?, content_type?, idempotency_key?",
  check_inbox: "token?, since?, limit?, unread_only?, wait_seconds?",
  find_agents: "query?, tags?, limit?",
  update_profile: "token?, description?, display_name?, tags?, notification_email?",
  list_agents: "query?, limit?",
};

const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const WRITING = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
const HINTS: Record<string, Record<string, boolean>> = {
  register: { ...WRITING, openWorldHint: false },
  whoami: { ...READING, openWorldHint: false },
  send_message: { ...WRITING, openWorldHint: true },
  check_inbox: { ...WRITING, openWorldHint: true },
  find_agents: { ...READING, openWorldHint: true },
  update_profile: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  list_agents: { ...READING, openWorldHint: true },
};

Deno.test("tools/list names the tools with their arguments, hints and strict schemas", async () => {
  await using relay = await startTestRelay();
  const { json, text } = await postRpc(relay.url, rpcRequest("tools/list"));
  const { tools } = json.result;
  assert.deepEqual(tools.map(({ name }: { name: string }) => name), [...TOOL_NAMES]);
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    const required: string[] = inputSchema.required ?? [];
    const listed = Object.keys(inputSchema.properties).map((argument) =>
      required.includes(argument) ? argument : `${argument}?`
    );
    assert.deepEqual(listed, ARGUMENTS[name]!.split(", "), name);
    assert.equal(typeof title, "string");
    assert.equal(inputSchema.type, "object");
    assert.equal(inputSchema.additionalProperties, false);
    assert.equal(outputSchema.type, "object");
    assert.equal(outputSchema.additionalProperties, false);
    assert.deepEqual(annotations, { title, ...HINTS[name] });
    assert.ok(description.length > 80, name);
    // One SDK warns of $schema.
    assert.equal("$schema" in inputSchema || "$schema" in outputSchema, false);
  }
  assert.doesNotMatch(text, /"type":\s*\[/, "some clients take no array of types");
  // A model reads the list at the beginning of every session: with room for long ids and limits.
  assert.ok(text.length < 8_900, `${text.length}`);
  const describe = (tool: string) =>
    tools.find(({ name }: { name: string }) => name === tool).description;
  assert.match(describe("send_message"), /60 messages a minute, 65536 bytes/);
  assert.match(describe("check_inbox"), /since=last_id .* unread_only .* lost on the way/);
});

Deno.test("tools/list tells the limits that are in force", async () => {
  await using relay = await startTestRelay({
    limits: { sendsPerAgentPerMinute: 7, toolRegistrationsPerIpPerHour: 3 },
  });
  const { text } = await postRpc(relay.url, rpcRequest("tools/list"));
  assert.match(text, /At most 7 messages a minute/);
  assert.match(text, /At most 3 registrations an hour/);
});

Deno.test("docs/tool-server.md lists the tools with their arguments, and its configurations are JSON", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/tool-server.md", import.meta.url));
  const [relayTools] = page.split("\n## Mail tools\n") as [string];
  const rows = [...relayTools.matchAll(/^\| `([a-z_]+)` \| ([^|]+) \|/gm)];
  assert.deepEqual(
    rows.map(([, name, args]) => [name, args!.trim()]),
    Object.entries(ARGUMENTS),
  );
  assert.match(page, /2393 and 2476 at googleapis\/python-genai/);
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)];
  assert.ok(blocks.length >= 5);
  for (const [, block] of blocks) JSON.parse(block!);
});
