/** A torn and a missing file: an error for that message alone, and everything else goes on. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startInboundRig } from "../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../support/mail_caller.ts";
import { messageKey, type MessageRow } from "../../server/mail/records/message_record.ts";

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
    const blobName = value!.blob.name.at(-1)!;
    const files = await filesBelow(join(rig.relay.deps.config.dataDir, "mail"));
    const [file, ...others] = files.filter((path) => path.includes(blobName));
    assert.ok(file !== undefined && others.length === 0);
    await harm(file);

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
