/** What tools/list of /mcp/mail tells: exactly the six, in order, each complete; and the page that documents them. */
import assert from "node:assert/strict";
import { startMailRelay } from "../../support/mail_relay.ts";
import { MAIL_TOOLS_PATH } from "../../support/mail_tools.ts";
import { postRpc, rpcRequest } from "../../support/tool_client.ts";

const ARGUMENTS: Record<string, string> = {
  create_inbox: "api_key?, local_part?, display_name?",
  check_inbox: "api_key?, inbox_id, limit?, cursor?, unread_only?, direction?, wait?",
  read_thread: "api_key?, thread_id, limit?, cursor?, mark_read?",
  send_email: "api_key?, inbox_id, to, cc?, bcc?, subject?, text?, html?, idempotency_key?",
  reply_to_message: "api_key?, message_id, text?, html?, reply_all?, idempotency_key?",
  search_mail: "api_key?, q, inbox_id?, limit?, cursor?",
};
const RESULTS: Record<string, string> = {
  create_inbox: "inbox",
  check_inbox: "messages, next_cursor, trust",
  read_thread: "thread, messages, next_cursor, trust",
  send_email: "status, message?, draft?",
  reply_to_message: "status, message?, draft?",
  search_mail: "results, next_cursor, partial?, trust",
};

const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const WRITING = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
const HINTS: Record<string, Record<string, boolean>> = {
  create_inbox: { ...WRITING, openWorldHint: false },
  check_inbox: { ...READING, openWorldHint: true },
  read_thread: { ...READING, readOnlyHint: false, openWorldHint: true },
  send_email: { ...WRITING, openWorldHint: true },
  reply_to_message: { ...WRITING, openWorldHint: true },
  search_mail: { ...READING, openWorldHint: true },
};

interface Schema {
  type: string;
  properties: object;
  required?: string[];
  additionalProperties: boolean;
}

function membersOf({ properties, required = [] }: Schema): string {
  return Object.keys(properties).map((name) => required.includes(name) ? name : `${name}?`)
    .join(", ");
}

Deno.test("tools/list names the six mail tools with their arguments, hints and strict schemas", async () => {
  await using relay = await startMailRelay();
  const { json, text } = await postRpc(relay.url, rpcRequest("tools/list"), {}, MAIL_TOOLS_PATH);
  const { tools } = json.result;
  assert.deepEqual(tools.map(({ name }: { name: string }) => name), Object.keys(ARGUMENTS));
  for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
    assert.equal(membersOf(inputSchema), ARGUMENTS[name]);
    assert.equal(membersOf(outputSchema), RESULTS[name]);
    for (const schema of [inputSchema, outputSchema]) {
      assert.equal(schema.type, "object");
      assert.equal(schema.additionalProperties, false);
      assert.equal("$schema" in schema, false);
    }
    assert.deepEqual(annotations, { title, ...HINTS[name] });
    assert.ok(description.length > 80, name);
  }
  assert.doesNotMatch(text, /"type":\s*\[/, "some clients take no array of types");
  // A model reads the list at the beginning of every session: with room for long domains and limits.
  assert.ok(text.length < 8_600, `${text.length}`);
  for (const tool of ["send_email", "reply_to_message"]) {
    const { description } = tools.find(({ name }: { name: string }) => name === tool);
    assert.match(description, /idempotency_key to make a retry safe/);
  }
});

Deno.test("tools/list of mail tells the limits that are in force", async () => {
  await using relay = await startMailRelay({
    limits: { mailSendsPerInboxPerHour: 7, mailRecipientsPerMessage: 3, mailInboxesPerOrg: 2 },
  });
  const { text } = await postRpc(relay.url, rpcRequest("tools/list"), {}, MAIL_TOOLS_PATH);
  assert.match(text, /At most 7 messages an inbox an hour, 3 recipients/);
  assert.match(text, /At most 2 inboxes an org/);
});

Deno.test("docs/tool-server.md lists the mail tools with their arguments", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/tool-server.md", import.meta.url));
  const [, section] = page.split("\n## Mail tools\n");
  assert.ok(section !== undefined);
  const rows = [...section.matchAll(/^\| `([a-z_]+)` \| ([^|]+) \|/gm)];
  assert.deepEqual(
    rows.map(([, name, args]) => [name, args!.trim()]),
    Object.entries(ARGUMENTS),
  );
});
