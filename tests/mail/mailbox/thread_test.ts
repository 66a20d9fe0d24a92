/** Threads: their list and its filters, the pages of one, and what is cut. */
import assert from "node:assert/strict";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { copyMessages } from "../../support/message_rows.ts";

const threadsOf = (rig: InboundRig, query = "") =>
  rig.get(`/v1/mail/inboxes/${rig.inbox.id}/threads${query}`);

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

async function storeThreads(rig: InboundRig, count: number): Promise<string[]> {
  const threads: string[] = [];
  for (let i = 0; i < count; i++) {
    rig.relay.clock.advance(1_000);
    const id = await rig.store({
      headers: { "Message-ID": `<t${i}@else.test>`, Subject: `t${i}` },
    });
    threads.push((await rig.get(`/v1/mail/messages/${id}`)).thread_id);
  }
  return threads;
}

Deno.test("threads: the newest message first; an answer raises its thread, also out of old ones", async () => {
  await using rig = await startInboundRig();
  const threads = await storeThreads(rig, 4);
  assert.deepEqual(idsOf((await threadsOf(rig)).data), threads.toReversed());
  rig.relay.clock.advance(1_000);
  const answer = await rig.store({
    headers: { "In-Reply-To": "<t1@else.test>", Subject: "Other", From: "New <new@else.test>" },
    text: "answer",
  });
  const { data } = await threadsOf(rig);
  assert.deepEqual(idsOf(data), [threads[1], threads[3], threads[2], threads[0]]);
  const [raised] = data;
  assert.deepEqual(
    [raised.subject, raised.message_count, raised.unread_count, raised.last_message_id],
    ["t1", 2, 2, answer],
  );
  assert.equal(raised.preview, "answer");
  assert.deepEqual(
    raised.participants.map(({ address }: { address: string }) => address),
    ["sender@else.test", "inbox@agents.test", "new@else.test"],
  );
  assert.ok(raised.last_message_at > raised.created_at);
  assert.ok(!("messages" in raised));
});

Deno.test("threads: unread and label find what a scan finds; bad parameters are 400", async () => {
  await using rig = await startInboundRig();
  const threads = await storeThreads(rig, 6);
  const { data: messages } = await rig.list("?order=asc");
  for (const i of [1, 4]) {
    const path = `/v1/mail/messages/${messages[i].id}`;
    const body = { read: true, add_labels: ["red"] };
    accepted(await rig.holder.ask("PATCH", path, { body }), 200);
  }
  accepted(
    await rig.holder.ask("PATCH", `/v1/mail/messages/${messages[5].id}`, {
      body: { add_labels: ["red"] },
    }),
    200,
  );
  assert.deepEqual(
    idsOf((await threadsOf(rig, "?unread=true")).data),
    [5, 3, 2, 0].map((i) => threads[i]),
  );
  assert.deepEqual(
    idsOf((await threadsOf(rig, "?label=red")).data),
    [5, 4, 1].map((i) => threads[i]),
  );
  const both = await threadsOf(rig, "?label=red&unread=true");
  assert.deepEqual(idsOf(both.data), [threads[5]]);
  // Pages of one, with everything else left out between.
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await threadsOf(rig, `?label=red&limit=1${cursor && `&cursor=${cursor}`}`);
    seen.push(...idsOf(page.data));
    cursor = page.next_cursor;
  }
  assert.deepEqual(seen, [5, 4, 1].map((i) => threads[i]));
  const path = `/v1/mail/inboxes/${rig.inbox.id}/threads`;
  for (const query of ["label=A", "unread=1", "limit=x", "cursor=x"]) {
    assertMailRefused(await rig.holder.ask("GET", `${path}?${query}`), "invalid_json");
  }
});

Deno.test("threads: one that moves while they are paged may come twice and is never skipped", async () => {
  await using rig = await startInboundRig();
  const threads = await storeThreads(rig, 6);
  const seen: string[] = [];
  let page = await threadsOf(rig, "?limit=2");
  seen.push(...idsOf(page.data));
  // Not seen yet, it moves above all that was.
  rig.relay.clock.advance(1_000);
  await rig.store({ headers: { "In-Reply-To": "<t1@else.test>" } });
  // Seen already, its last message goes: it moves down.
  for (let pages = 0; page.next_cursor !== null; pages++) {
    assert.ok(pages < 20, "pages have no end");
    page = await threadsOf(rig, `?limit=2&cursor=${page.next_cursor}`);
    seen.push(...idsOf(page.data));
  }
  assert.equal(threads.length, 6);
  for (const id of threads) assert.ok(seen.includes(id), `${threads.indexOf(id)} was skipped`);
});

Deno.test("thread detail: both orders, pages, text cut at 64 KiB; no html and no headers", async () => {
  await using rig = await startInboundRig();
  const long = `${"ä".repeat(40_000)}\r\n`.replaceAll(/.{70}/g, "$&\r\n");
  const first = await rig.store({ headers: { "Message-ID": "<a@else.test>" }, text: "short" });
  const { thread_id } = await rig.get(`/v1/mail/messages/${first}`);
  await rig.store({
    headers: {
      "In-Reply-To": "<a@else.test>",
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Transfer-Encoding": "8bit",
    },
    text: long,
  });
  const path = `/v1/mail/threads/${thread_id}`;
  const { messages, next_cursor, ...thread } = await rig.get(path);
  assert.equal(next_cursor, null);
  assert.equal(thread.message_count, 2);
  const [short, cut] = messages;
  assert.deepEqual([short.text, short.extracted_text, short.truncated], ["short", "short", false]);
  assert.equal(cut.truncated, true);
  const size = new TextEncoder().encode(cut.text).length;
  assert.ok(size <= 65_536 && size > 65_000, String(size));
  assert.ok(new TextEncoder().encode(cut.extracted_text).length <= 65_536);
  assert.ok(!cut.text.includes("\ufffd"));
  const whole = await rig.get(`/v1/mail/messages/${cut.id}`);
  assert.ok(whole.text.length >= 40_000);
  for (const one of messages) {
    for (const name of ["html", "headers", "links"]) assert.ok(!(name in one), name);
  }
  assert.deepEqual(
    idsOf((await rig.get(`${path}?order=desc`)).messages),
    idsOf(messages).reverse(),
  );
  const asc = await rig.get(`${path}?limit=1`);
  assert.deepEqual(idsOf(asc.messages), [short.id]);
  const rest = await rig.get(`${path}?limit=1&cursor=${asc.next_cursor}`);
  assert.deepEqual([idsOf(rest.messages), rest.next_cursor], [[cut.id], null]);
  assertMailRefused(
    await rig.holder.ask("GET", `${path}?order=desc&cursor=${asc.next_cursor}`),
    "invalid_json",
  );
  assert.equal((await rig.get(path)).unread_count, 2, "reading marked something");
});

Deno.test("a thread of 1,000 messages is paged whole in both orders, its pages ended by bytes", async () => {
  await using rig = await startInboundRig({ limits: { pageBytes: 100_000 } });
  const first = await rig.store({ text: "寿司".repeat(300) });
  const { thread_id } = await rig.get(`/v1/mail/messages/${first}`);
  const original = { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id: first };
  const ids = [first, ...await copyMessages(rig.kv, original, 999)];
  for (const order of ["asc", "desc"]) {
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query = `?order=${order}&limit=100${cursor && `&cursor=${cursor}`}`;
      const answer = await fetch(`${rig.relay.url}/v1/mail/threads/${thread_id}${query}`, {
        headers: { Authorization: `Bearer ${rig.holder.key}` },
      });
      const bytes = await answer.bytes();
      assert.ok(bytes.length <= 102_000, String(bytes.length));
      const page = JSON.parse(new TextDecoder().decode(bytes));
      seen.push(...idsOf(page.messages));
      cursor = page.next_cursor;
    }
    assert.deepEqual(seen, order === "asc" ? ids : ids.toReversed());
  }
});

Deno.test("a thread names 50 people at most, each once whatever the case", async () => {
  await using rig = await startInboundRig();
  const to = Array.from({ length: 60 }, (_, i) => `P${i} <p${i}@else.test>`);
  const id = await rig.store({
    headers: { From: "p0@else.test", To: [...to, "P1@ELSE.TEST"].join(", ") },
  });
  const { thread_id } = await rig.get(`/v1/mail/messages/${id}`);
  const { participants } = await rig.get(`/v1/mail/threads/${thread_id}`);
  assert.equal(participants.length, 50);
  const addresses = participants.map(({ address }: { address: string }) => address.toLowerCase());
  assert.equal(new Set(addresses).size, 50);
});
