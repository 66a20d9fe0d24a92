/** A torn and a missing file: an error for that message alone, and everything else goes on. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { startMailStore } from "../../support/mail_store.ts";
import type { TestRelay } from "../../support/relay.ts";
import { newSendingOrg, send } from "../../support/sending_org.ts";
import { messageKey, type MessageRow } from "../../../server/mail/records/message_record.ts";

const HARMS: Record<string, (path: string) => Promise<void>> = {
  missing: (path) => Deno.remove(path),
  empty: (path) => Deno.truncate(path),
  torn: (path) => Deno.truncate(path, 10),
  "changed in every byte": async (path) => {
    const bytes = await Deno.readFile(path);
    await Deno.writeFile(path, bytes.map((byte) => byte ^ 1));
  },
};

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await filesBelow(join(folder, name)));
    else found.push(join(folder, name));
  }
  return found;
}

async function fileOf(relay: TestRelay, { blob }: MessageRow): Promise<string> {
  const files = await filesBelow(join(relay.deps.config.dataDir, "mail"));
  const [file, ...others] = files.filter((path) => path.includes(blob.name.at(-1)!));
  assert.ok(file !== undefined && others.length === 0);
  return file;
}

// deno-lint-ignore no-explicit-any -- a message as answered
function assertWithoutTexts(message: any): void {
  const { text, html, extracted_text, headers, links, parse_warnings } = message;
  assert.deepEqual({ text, html, extracted_text, headers, links, parse_warnings }, {
    text: null,
    html: null,
    extracted_text: null,
    headers: {},
    links: [],
    parse_warnings: ["damaged"],
  });
}

for (const [name, harm] of Object.entries(HARMS)) {
  Deno.test(`a blob that is ${name}: 500 for its message alone, lists and thread pages go on`, async () => {
    await using rig = await startInboundRig();
    const ids = [
      await rig.store({ headers: { "Message-ID": "<a@else.test>" }, text: "first" }),
      await rig.store({ headers: { "In-Reply-To": "<a@else.test>" }, text: "second" }),
      await rig.store({ headers: { "In-Reply-To": "<a@else.test>" }, text: "third" }),
    ];
    const bad = ids[1]!;
    const key = messageKey(rig.holder.orgId, rig.inbox.id, bad);
    const { value } = await rig.kv.get<MessageRow>(key);
    await harm(await fileOf(rig.relay, value!));

    const path = `/v1/mail/messages/${bad}`;
    for (const one of [path, `${path}/raw`]) {
      const answer = await rig.holder.ask("GET", one);
      assertMailRefused(answer, "internal");
      assert.ok(!JSON.stringify(answer.body).includes(rig.relay.deps.config.dataDir));
    }
    for (const id of [ids[0]!, ids[2]!]) {
      assert.match((await rig.get(`/v1/mail/messages/${id}`)).text, /first|third/);
      accepted(await rig.holder.ask("GET", `/v1/mail/messages/${id}/raw`), 200);
    }
    const { data } = await rig.list();
    assert.deepEqual(data.map(({ id }: { id: string }) => id), ids.toReversed());
    const thread = await rig.get(`/v1/mail/threads/${value!.threadId}`);
    assert.equal(thread.messages.length, 3);
    assert.deepEqual(
      thread.messages.map((one: { text: string | null }) => one.text?.trim() ?? null),
      ["first", null, "third"],
    );
    assert.deepEqual(thread.messages[1].parse_warnings, ["damaged"]);
    const logged = rig.relay.logged.filter(({ event }) => /blob/.test(event));
    assert.ok(logged.length >= 1, "nothing was logged");

    // It can be labelled: the answer has all but its texts.
    const labelled = accepted(
      await rig.holder.ask("PATCH", path, { body: { add_labels: ["torn"] } }),
      200,
    );
    assertWithoutTexts(labelled);
    assert.deepEqual([labelled.id, labelled.labels, labelled.read], [bad, ["torn"], false]);
    const listed = await rig.list("?label=torn");
    assert.deepEqual(listed.data.map(({ id }: { id: string }) => id), [bad]);

    // It can be marked by its thread, and deleted; mail comes on.
    const marked = await rig.holder.ask("PATCH", `/v1/mail/threads/${value!.threadId}`, {
      body: { read: true },
    });
    assert.equal(accepted(marked, 200).unread_count, 0);
    accepted(await rig.holder.ask("DELETE", path), 204);
    assertMailRefused(await rig.holder.ask("GET", path), "not_found");
    accepted(await rig.deliver(), 200);
    assert.equal((await rig.list()).data.length, 3);
  });
}

Deno.test("a scheduled message whose blob is missing can be cancelled", async () => {
  await using opened = await startMailStore();
  const { relay, kv } = opened;
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox({});
  const send_at = new Date(relay.clock.now() + 3_600_000).toISOString();
  const { id } = accepted(await send(owner, inbox, { send_at }), 202);
  const { value } = await kv.get<MessageRow>(messageKey(owner.orgId, inbox.id, id));
  await Deno.remove(await fileOf(relay, value!));
  const path = `/v1/mail/messages/${id}/cancel`;
  const cancelled = accepted(await owner.ask("POST", path, { body: {} }), 200);
  assert.equal(cancelled.status, "cancelled");
  assertWithoutTexts(cancelled);
  assertMailRefused(await owner.ask("POST", path, { body: {} }), "already_sent");
});
