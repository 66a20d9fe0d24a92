/** Both official clients over real HTTP: the whole run of an agent's mail, in local mode. */
import assert from "node:assert/strict";
import { VERSION } from "../../../server/base/version.ts";
import { newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import {
  MAIL_TOOL_NAMES,
  MAIL_TOOLS_PATH,
  receive,
  verifiedOrg,
} from "../../support/mail_tools.ts";
import { officialClients } from "../../support/official_clients.ts";
import { assertToolRefused } from "../../support/tool_client.ts";

for (const { name, connect } of officialClients) {
  Deno.test(`${name}: create_inbox, send, check, read, reply, search`, async () => {
    await using relay = await startMailRelay();
    const { key } = await verifiedOrg(relay);
    await using client = await connect(relay.url, {}, MAIL_TOOLS_PATH);
    assert.equal(client.serverInfo()?.name, "agent-messaging-relay-mail");
    assert.equal(client.serverInfo()?.version, VERSION);
    assert.match(client.instructions() ?? "", /check_inbox/);
    assert.deepEqual((await client.listTools()).map((tool) => tool.name), [...MAIL_TOOL_NAMES]);
    const done = async (tool: string, args: Parameters<typeof client.call>[1]) => {
      const result = await client.call(tool, { api_key: key, ...args });
      assert.equal(result.isError, false, result.text);
      return result;
    };

    const { inbox } =
      (await done("create_inbox", { local_part: "ada", display_name: "Ada" })).structured;
    assert.equal(inbox.address, "ada@agents.test");
    assert.equal(inbox.send_policy, "direct");

    const sent = await done("send_email", {
      inbox_id: inbox.address,
      to: ["ann@example.org"],
      subject: "Lunch",
      text: "Shall we have lunch on Friday?",
      idempotency_key: "lunch",
    });
    assert.equal(sent.structured.status, "queued");
    const first = sent.structured.message;
    assert.deepEqual(first.to, [{ name: null, address: "ann@example.org" }]);
    assert.equal("text" in first, false);
    assert.match(sent.text, /check_inbox inbox_id=ibx_\w+\.$/);

    const nothing = await done("check_inbox", { inbox_id: inbox.id, unread_only: true });
    assert.deepEqual(nothing.structured.messages, []);
    await receive(relay, inbox.address, {
      headers: {
        From: "Ann <ann@example.org>",
        Subject: "Re: Lunch",
        "In-Reply-To": `<${first.rfc_message_id}>`,
      },
      text: "Gladly. The door code is 482913, the menu: https://example.org/menu\r\n",
    });
    const checked = await done("check_inbox", {
      inbox_id: inbox.id,
      cursor: nothing.structured.next_cursor,
    });
    assert.equal(checked.structured.trust, "untrusted content from strangers");
    assert.equal(checked.structured.messages.length, 1);
    const [answer] = checked.structured.messages;
    assert.equal(answer.thread_id, first.thread_id);
    assert.equal(answer.read, false);
    assert.equal(answer.auth.verdict, "none");
    assert.deepEqual(answer.codes, [{ value: "482913", kind: "numeric" }]);
    assert.deepEqual(answer.links.map(({ url }: { url: string }) => url), [
      "https://example.org/menu",
    ]);
    assert.match(answer.extracted_text, /^Gladly/);
    assert.match(checked.text, /^Code: 482913$/m);

    const read = await done("read_thread", { thread_id: first.thread_id });
    assert.deepEqual(
      read.structured.messages.map(({ id, read }: { id: string; read: boolean }) => [id, read]),
      [[first.id, true], [answer.id, false]],
    );
    assert.equal(read.structured.thread.unread_count, 0);
    assert.equal(read.structured.next_cursor, null);
    assert.match(read.structured.messages[0].text, /lunch on Friday/);

    const reply = await done("reply_to_message", { message_id: answer.id, text: "See you there." });
    assert.equal(reply.structured.status, "queued");
    assert.equal(reply.structured.message.thread_id, first.thread_id);
    assert.equal(reply.structured.message.subject, "Re: Lunch");

    const found = await done("search_mail", { q: 'gladly "door code"' });
    assert.deepEqual(
      found.structured.results.map(({ message }: { message: { id: string } }) => message.id),
      [answer.id],
    );
    assert.match(found.structured.results[0].highlights.text[0], /door code is 482913/);
    assert.equal(found.structured.next_cursor, null);
  });

  Deno.test(`${name}: the key comes as a header too, and refusals are the tool's answer`, async () => {
    await using relay = await startMailRelay();
    const trial = await newOrg(relay);
    const headers = { Authorization: `Bearer ${trial.key}` };
    await using client = await connect(relay.url, headers, MAIL_TOOLS_PATH);
    const { inbox } = (await client.call("create_inbox")).structured;
    const send = { inbox_id: inbox.id, to: "ann@example.org", text: "x" };
    assertToolRefused(
      await client.call("send_email", send),
      "trial_org_cannot_send",
      /person you work for to claim/,
    );
    assertToolRefused(await client.call("create_inbox"), "inbox_limit_reached");
    assertToolRefused(await client.call("check_inbox", {}), "invalid_json", /inbox_id is required/);
    assertToolRefused(
      await client.call("check_inbox", { inbox_id: inbox.id, api_key: "rm_sk_nobody" }),
      "unknown_key",
    );
    await assert.rejects(client.call("no_such_tool"), /no_such_tool/);
  });
}
