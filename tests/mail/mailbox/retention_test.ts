/** retention_days, and what is left of inboxes and orgs that are deleted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { auditMailboxes } from "../../support/mailbox_audit.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { claimLink, follow } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming } from "../../support/mail_store.ts";
import { delay } from "../../support/pace.ts";
import { copyMessages } from "../../support/message_rows.ts";
import { DAY_MS, HOUR_MS } from "../../../server/base/time/time_units.ts";

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await filesBelow(join(folder, name)));
    else found.push(name);
  }
  return found.filter((name) => name.includes("ibx_"));
}

/** Until what runs each minute has come to something. */
async function minutesUntil(
  { everyMinute }: { everyMinute: () => Promise<void> },
  isDone: () => Promise<boolean>,
  left?: () => Promise<string[]>,
): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await isDone()) return;
    await everyMinute();
    await delay(10);
  }
  assert.fail(`the sweep came to nothing; left are\n${(await left?.() ?? []).join("\n")}`);
}

Deno.test("retention_days: what is older goes with its thread, file and bytes; null keeps all", async () => {
  await using rig = await startInboundRig({ inbox: { retention_days: 2 } });
  const everyMinute = { everyMinute: rig.relay.relay.crons["figures"]! as () => Promise<void> };
  const kept = await rig.holder.inbox({ local_part: "grace" });
  const count = async (id: string) =>
    (await rig.get(`/v1/mail/inboxes/${id}/messages`)).data.length;
  for (let i = 0; i < 3; i++) await rig.store();
  accepted(await rig.deliver({ to: [kept.address] }), 200);
  rig.relay.clock.advance(DAY_MS);
  await rig.store();
  rig.relay.clock.advance(DAY_MS - HOUR_MS);
  await everyMinute.everyMinute();
  await delay(50);
  assert.equal(await count(rig.inbox.id), 4);
  rig.relay.clock.advance(HOUR_MS + 1_000);
  await minutesUntil(everyMinute, async () => await count(rig.inbox.id) === 1);
  assert.equal(await count(kept.id), 1);
  const messages = await auditMailboxes(rig.kv);
  assert.equal(messages.size, 2);
  assert.equal((await rig.get(`/v1/mail/inboxes/${rig.inbox.id}`)).unread_count, 1);
  // Changed to null, nothing more goes.
  const path = `/v1/mail/inboxes/${rig.inbox.id}`;
  accepted(await rig.holder.ask("PATCH", path, { body: { retention_days: null } }), 200);
  rig.relay.clock.advance(30 * DAY_MS);
  await everyMinute.everyMinute();
  await delay(50);
  assert.equal(await count(rig.inbox.id), 1);
  // And set again, what is old goes.
  accepted(await rig.holder.ask("PATCH", path, { body: { retention_days: 1 } }), 200);
  rig.relay.clock.advance(HOUR_MS);
  await minutesUntil(everyMinute, async () => await count(rig.inbox.id) === 0);
  await auditMailboxes(rig.kv);
});

Deno.test("DELETE inbox: its rows, storage and files go; later mail is refused; the other inbox stays", async () => {
  await using rig = await startInboundRig();
  const everyMinute = { everyMinute: rig.relay.relay.crons["figures"]! as () => Promise<void> };
  const other = await rig.holder.inbox({ local_part: "grace" });
  accepted(await rig.deliver({ to: [other.address] }), 200);
  const kept = await rig.storedBytes();
  const raw = "From: a@else.test\r\nSubject: again\r\n\r\nx";
  for (let i = 0; i < 5; i++) {
    const id = await rig.store({ headers: { "In-Reply-To": `<${i}@x.test>` } });
    const body = { add_labels: ["red"] };
    accepted(await rig.holder.ask("PATCH", `/v1/mail/messages/${id}`, { body }), 200);
  }
  accepted(await rig.deliver({ raw }), 200);
  const { data: [message] } = await rig.list("?limit=1");
  assert.ok(await rig.storedBytes() > kept);
  accepted(await rig.holder.ask("DELETE", `/v1/mail/inboxes/${rig.inbox.id}`), 204);
  for (const path of [`messages/${message.id}`, `threads/${message.thread_id}`]) {
    assertMailRefused(await rig.holder.ask("GET", `/v1/mail/${path}`), "not_found");
    const body = { read: true };
    assertMailRefused(await rig.holder.ask("PATCH", `/v1/mail/${path}`, { body }), "not_found");
  }
  assertMailRefused(await rig.deliver({ raw }), "not_found");
  const left = async () =>
    (await rowsNaming(rig.kv, rig.inbox.id)).filter((row) =>
      !/mail-address|blob-deletion|"blob"/.test(row)
    );
  const before = await rig.storedBytes();
  await minutesUntil(everyMinute, async () => (await left()).length === 0, left);
  assert.equal(await rig.storedBytes(), before, "bytes count until they are swept");
  assert.equal((await auditMailboxes(rig.kv)).size, 1);
  assert.equal((await rig.get(`/v1/mail/inboxes/${other.id}/messages`)).data.length, 1);
  const folder = join(rig.relay.deps.config.dataDir, "mail");
  assert.equal((await filesBelow(folder)).length, 7);
  rig.relay.clock.advance(2 * HOUR_MS);
  await minutesUntil(everyMinute, async () => (await filesBelow(folder)).length === 1);
  assert.equal(await rig.storedBytes(), kept);
});

Deno.test("DELETE inbox while mail comes and is marked: nothing of it is left", async () => {
  await using rig = await startInboundRig();
  const everyMinute = { everyMinute: rig.relay.relay.crons["figures"]! as () => Promise<void> };
  const first = await rig.store();
  const original = { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id: first };
  const { thread_id } = await rig.get(`/v1/mail/messages/${first}`);
  await copyMessages(rig.kv, original, 700);
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => rig.deliver()),
    rig.holder.ask("PATCH", `/v1/mail/threads/${thread_id}`, { body: { read: true } }),
    rig.holder.ask("DELETE", `/v1/mail/inboxes/${rig.inbox.id}`),
    ...Array.from({ length: 10 }, () => rig.deliver()),
  ]);
  const statuses = new Set(answers.map(({ status }) => status));
  assert.ok(
    [...statuses].every((status) => [200, 204, 404].includes(status)),
    [...statuses].join(),
  );
  const left = async () =>
    (await rowsNaming(rig.kv, rig.inbox.id)).filter((row) =>
      !/mail-address|blob-deletion|blob-pending|"blob"/.test(row)
    );
  await minutesUntil(everyMinute, async () => (await left()).length === 0, left);
  rig.relay.clock.advance(HOUR_MS);
  const blobs = async () =>
    (await rowsNaming(rig.kv, rig.inbox.id)).filter((row) => /"blob"/.test(row));
  await minutesUntil(everyMinute, async () => (await blobs()).length === 0, blobs);
  assert.equal(await rig.storedBytes(), 0);
});

Deno.test("DELETE org: its mail, blobs and files are erased, another org's are not", async () => {
  await using rig = await startInboundRig();
  await using other = await startInboundRig();
  for (const each of [rig, other]) for (let i = 0; i < 3; i++) await each.store();
  accepted(await rig.holder.deleteOrg(), 204);
  const everyMinute = { everyMinute: rig.relay.relay.crons["figures"]! as () => Promise<void> };
  const left = async () =>
    (await rowsNaming(rig.kv, rig.holder.orgId)).filter((row) =>
      /mail-message|mail-index|mail-thread|mail-object|mail-storage|mail-rfc-id|mail-repeat|"blob"/
        .test(row)
    );
  await minutesUntil(everyMinute, async () => {
    rig.relay.clock.advance(HOUR_MS);
    return (await left()).length === 0;
  });
  const folder = join(rig.relay.deps.config.dataDir, "mail");
  await minutesUntil(everyMinute, async () => {
    rig.relay.clock.advance(HOUR_MS);
    return (await filesBelow(folder)).length === 0;
  });
  assert.equal((await auditMailboxes(other.kv)).size, 3);
});

Deno.test("DELETE inbox: nothing of it is shown from the answer on, whatever the sweep has left", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store();
  const original = { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id: first };
  const ids = await copyMessages(rig.kv, original, 300);
  const { thread_id } = await rig.get(`/v1/mail/messages/${first}`);
  accepted(await rig.holder.ask("DELETE", `/v1/mail/inboxes/${rig.inbox.id}`), 204);
  const last = `/v1/mail/messages/${ids.at(-1)}`;
  for (const path of [last, `${last}/raw`, `/v1/mail/threads/${thread_id}`]) {
    assertMailRefused(await rig.holder.ask("GET", path), "not_found");
  }
});

Deno.test("retention_days: a message that has still to go out stays until it has gone", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, owner.key, "owner@example.org")), 200);
  const inbox = await owner.inbox({ retention_days: 1 });
  const path = `/v1/mail/inboxes/${inbox.id}/messages`;
  const body = { to: "ann@example.org", text: "Later." };
  const gone = accepted(await owner.ask("POST", `${path}/send`, { body }), 202);
  const send_at = new Date(relay.clock.now() + 5 * DAY_MS).toISOString();
  const late = accepted(
    await owner.ask("POST", `${path}/send`, { body: { ...body, send_at } }),
    202,
  );
  const minute = { everyMinute: relay.relay.crons["figures"]! as () => Promise<void> };
  await relay.relay.crons["outgoing"]!();
  relay.clock.advance(2 * DAY_MS);
  const isThere = async (id: string) =>
    (await owner.ask("GET", `/v1/mail/messages/${id}`)).status === 200;
  await minutesUntil(minute, async () => !await isThere(gone.id));
  assert.equal(await isThere(late.id), true);
  relay.clock.advance(3 * DAY_MS + HOUR_MS);
  await relay.relay.crons["outgoing"]!();
  await minutesUntil(minute, async () => !await isThere(late.id));
});
