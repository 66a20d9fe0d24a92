/** Whether what a store holds of mailboxes agrees with itself: every count recounted, every index remade. */
import assert from "node:assert/strict";
import {
  indexesOf,
  indexKey,
  messageKey,
  type MessageRow,
  objectKey,
} from "../../server/mail/records/message_record.ts";
import type { MailboxRecord } from "../../server/mail/records/mailbox_record.ts";
import {
  threadKey,
  threadOrderKey,
  type ThreadRow,
} from "../../server/mail/records/thread_record.ts";

async function rowsOf<T>(kv: Deno.Kv, name: string): Promise<Map<string, T>> {
  const rows = new Map<string, T>();
  for await (const { key, value } of kv.list<T>({ prefix: [name] })) {
    rows.set(JSON.stringify(key), value);
  }
  return rows;
}

const named = (keys: Iterable<Deno.KvKey>) => [...keys].map((key) => JSON.stringify(key)).sort();

/** What is counted of stored answers in addition to their blobs. */
export async function storedAnswers(kv: Deno.Kv): Promise<{ orgId: string; rowBytes: number }[]> {
  const answers: { orgId: string; rowBytes: number }[] = [];
  const selector = { prefix: ["repetition", "mail-idempotency"] };
  for await (const { key, value } of kv.list<{ held: { rowBytes: number } }>(selector)) {
    answers.push({ orgId: key[3] as string, rowBytes: value.held.rowBytes });
  }
  return answers;
}

/**
 * Asserts that each owner counts every blob whose bytes are there, what was dropped too, and answers in
 * rows.
 * @returns keys of the rows of blobs, as JSON
 */
export async function auditStorage(kv: Deno.Kv): Promise<string[]> {
  const blobs = await rowsOf<{ sizeBytes: number }>(kv, "blob");
  const bytes = new Map<string, number>();
  const add = (owner: string, size: number) => bytes.set(owner, (bytes.get(owner) ?? 0) + size);
  for (const [name, { sizeBytes }] of blobs) add(JSON.parse(name)[1], sizeBytes);
  for (const { orgId, rowBytes } of await storedAnswers(kv)) add(orgId, rowBytes);
  for (const [name, value] of await rowsOf<{ bytes: number }>(kv, "mail-storage")) {
    const [, owner] = JSON.parse(name);
    assert.equal(value.bytes, bytes.get(owner) ?? 0, `storage of ${owner}`);
  }
  return [...blobs.keys()];
}

/**
 * Asserts that messages, threads, indexes, guards, storage and blobs of all inboxes say the same.
 * @returns all messages, by their ids
 */
export async function auditMailboxes(kv: Deno.Kv): Promise<Map<string, MessageRow>> {
  const rows = [...(await rowsOf<MessageRow>(kv, "mail-message")).entries()];
  const messages = new Map(rows.map(([, row]) => [row.id, row]));
  assert.equal(messages.size, rows.length, "an id stands twice");
  const threads = new Map(
    [...(await rowsOf<ThreadRow>(kv, "mail-thread")).values()].map((row) => [row.id, row]),
  );
  for (const [name, row] of rows) {
    assert.equal(name, JSON.stringify(messageKey(row.orgId, row.inboxId, row.id)));
    assert.ok(threads.has(row.threadId), `${row.id} has no thread`);
  }

  const all = [...messages.values()];
  const indexes = all.flatMap((row) =>
    indexesOf(row).map((index) => indexKey(row.orgId, row.inboxId, index, row.id))
  );
  assert.deepEqual([...(await rowsOf(kv, "mail-index")).keys()].sort(), named(indexes));
  assert.deepEqual(
    [...(await rowsOf(kv, "mail-object")).keys()].sort(),
    named([...all, ...threads.values()].map(({ orgId, id }) => objectKey(orgId, id))),
  );
  assert.deepEqual(
    [...(await rowsOf(kv, "mail-thread-order")).keys()].sort(),
    named(
      [...threads.values()].map((row) => threadOrderKey(row.orgId, row.inboxId, row.lastMessageId)),
    ),
  );
  for (const thread of threads.values()) {
    const own = all.filter(({ threadId }) => threadId === thread.id);
    const last = own.map(({ id }) => id).sort().at(-1);
    assert.deepEqual(
      [thread.messageCount, thread.unreadCount, thread.lastMessageId],
      [own.length, own.filter(({ read }) => !read).length, last],
      `counts of ${thread.id}`,
    );
    assert.equal(
      JSON.stringify(threadKey(thread.orgId, own[0]!.inboxId, thread.id)),
      JSON.stringify(threadKey(thread.orgId, thread.inboxId, thread.id)),
    );
  }

  for (const [name, guard] of await rowsOf<MailboxRecord>(kv, "mail-mailbox")) {
    const [, orgId, inboxId] = JSON.parse(name);
    const own = all.filter((row) => row.orgId === orgId && row.inboxId === inboxId);
    assert.deepEqual(
      [guard.messages, guard.unread],
      [own.length, own.filter(({ read }) => !read).length],
      `counts of ${inboxId}`,
    );
    for (const { id } of own) assert.ok(id <= guard.headId!, `${id} lies above its head`);
  }
  const blobs = await auditStorage(kv);
  const dropped = new Set<string>();
  for (const [name, row] of await rowsOf<{ dropped?: true }>(kv, "blob-deletion")) {
    if (row.dropped) dropped.add(JSON.stringify(["blob", ...JSON.parse(name).slice(2)]));
  }
  assert.deepEqual(
    blobs.filter((name) => !dropped.has(name)).sort(),
    named(all.map(({ blob }) => ["blob", ...blob.name])),
  );
  const rfcIds = await rowsOf<{ messageId: string }>(kv, "mail-rfc-id");
  for (const [name, { messageId }] of rfcIds) {
    assert.ok(messages.has(messageId), `${name} names a message that is gone`);
  }
  return messages;
}
