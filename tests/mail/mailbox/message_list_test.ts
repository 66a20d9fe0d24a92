/** GET /v1/mail/inboxes/{id}/messages: orders, filters, cursors and the bounds of a page. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mailText } from "../../support/inbound_mail.ts";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { copyMessages } from "../../support/message_rows.ts";

const originalOf = ({ holder, inbox }: InboundRig, id: string) => ({
  orgId: holder.orgId,
  inboxId: inbox.id,
  id,
});

async function pagesOf(rig: InboundRig, query: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let pages = 1;; pages++) {
    const page: { data: { id: string }[]; next_cursor: string | null } = await rig.list(
      `?${query}${cursor === null ? "" : `&cursor=${cursor}`}`,
    );
    ids.push(...page.data.map(({ id }) => id));
    const isOver = page.next_cursor === null ||
      query.includes("order=asc") && page.data.length === 0;
    if (isOver) return { ids, pages };
    cursor = page.next_cursor;
  }
}

Deno.test("messages: every combination of filters finds what a scan finds, in both orders", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store({ text: "Your code is 482913.\r\n" });
  const { thread_id: thread } = await rig.get(`/v1/mail/messages/${first}`);
  await rig.store({ text: "plain\r\n" });
  for (let i = 0; i < 24; i++) {
    await copyMessages(rig.kv, originalOf(rig, first), 1, (row) => ({
      direction: i % 2 === 0 ? "inbound" : "outbound",
      read: i % 3 === 0,
      codes: i % 4 < 2 ? row.codes : [],
      labels: i % 5 === 0 ? ["red", "blue"] : i % 5 === 1 ? ["blue"] : [],
    }));
  }
  const { data: all } = await rig.list("?limit=100");
  assert.equal(all.length, 26);
  assert.ok(
    all.every((row: object) => !("text" in row) && !("html" in row) && !("headers" in row)),
  );
  const options: Record<string, [string, (row: Record<string, unknown>) => boolean][]> = {
    direction: [
      ["inbound", (row) => row.direction === "inbound"],
      ["outbound", (row) => row.direction === "outbound"],
    ],
    unread: [["true", (row) => row.read === false], ["false", () => true]],
    has_code: [["true", (row) => (row.codes as unknown[]).length > 0]],
    label: [
      ["red", (row) => (row.labels as string[]).includes("red")],
      ["none", () => false],
    ],
    thread_id: [[thread, (row) => row.thread_id === thread]],
  };
  let combinations: [string, (row: Record<string, unknown>) => boolean][] = [["", () => true]];
  for (const [name, values] of Object.entries(options)) {
    combinations = combinations.flatMap(([query, test]) => [
      [query, test] as [string, typeof test],
      ...values.map(([value, more]) =>
        [`${query}&${name}=${value}`, (row) => test(row) && more(row)] as [string, typeof test]
      ),
    ]);
  }
  assert.equal(combinations.length, 3 * 3 * 2 * 3 * 2);
  for (const [query, test] of combinations) {
    const expected = all.filter(test).map(({ id }: { id: string }) => id);
    assert.deepEqual((await pagesOf(rig, `limit=3${query}`)).ids, expected, query);
    const asc = await pagesOf(rig, `limit=7&order=asc${query}`);
    assert.deepEqual(asc.ids, expected.toReversed(), query);
  }
});

Deno.test("messages: limit is clamped, and bad parameters are 400 naming themselves", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store();
  await copyMessages(rig.kv, originalOf(rig, first), 120);
  for (const [query, count] of [["", 50], ["?limit=0", 1], ["?limit=1000", 100]] as const) {
    assert.equal((await rig.list(query)).data.length, count);
  }
  const path = `/v1/mail/inboxes/${rig.inbox.id}/messages`;
  const bad: Record<string, string> = {
    limit: "x",
    order: "up",
    direction: "both",
    unread: "yes",
    has_code: "1",
    label: "A",
    thread_id: "thr_1",
    wait: "1.5",
    cursor: "x",
  };
  assert.ok(Object.keys(bad).length > 0);
  for (const [name, value] of Object.entries(bad)) {
    const answer = await rig.holder.ask("GET", `${path}?${name}=${value}`);
    assertMailRefused(answer, "invalid_json", new RegExp(name));
    const twice = await rig.holder.ask("GET", `${path}?${name}=${value}&${name}=${value}`);
    assertMailRefused(twice, "invalid_json", new RegExp(name));
  }
  assertMailRefused(await rig.holder.ask("GET", `${path}?label=${"x".repeat(33)}`), "invalid_json");
});

Deno.test("messages: a cursor is good for its org, inbox, path, filters and order alone", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store();
  await copyMessages(rig.kv, originalOf(rig, first), 3);
  const path = `/v1/mail/inboxes/${rig.inbox.id}/messages`;
  const { next_cursor: cursor } = await rig.list("?limit=1");
  accepted(await rig.holder.ask("GET", `${path}?cursor=${cursor}&limit=7`), 200);
  const foreign = [
    "order=asc",
    "unread=true",
    "has_code=true",
    "direction=inbound",
    "label=a",
    "thread_id=thr_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  ];
  assert.ok(foreign.length > 0);
  for (const query of foreign) {
    const answer = await rig.holder.ask("GET", `${path}?cursor=${cursor}&${query}`);
    assertMailRefused(answer, "invalid_json", /cursor/);
  }
  const other = await rig.holder.inbox({ local_part: "grace" });
  const elsewhere = [
    `/v1/mail/inboxes/${other.id}/messages`,
    `/v1/mail/inboxes/${rig.inbox.id}/threads`,
    "/v1/mail/inboxes",
  ];
  for (const url of elsewhere) {
    assertMailRefused(await rig.holder.ask("GET", `${url}?cursor=${cursor}`), "invalid_json");
  }
  const stranger = await newOrg(rig.relay);
  const theirs = await stranger.inbox();
  assertMailRefused(
    await stranger.ask("GET", `/v1/mail/inboxes/${theirs.id}/messages?cursor=${cursor}`),
    "invalid_json",
  );
  // Another scope, though it sees the same.
  const { api_key } = await rig.holder.newKey({
    name: "small",
    scope: "inbox",
    inbox_id: rig.inbox.id,
  });
  const small = rig.holder.with(api_key);
  assertMailRefused(await small.ask("GET", `${path}?cursor=${cursor}`), "invalid_json");
  const { next_cursor: own } = accepted(await small.ask("GET", `${path}?limit=1`), 200);
  accepted(await small.ask("GET", `${path}?limit=1&cursor=${own}`), 200);
  // A cursor of the same org by another key of the same scope is good.
  const { api_key: second } = await rig.holder.newKey({ name: "second" });
  accepted(await rig.holder.with(second).ask("GET", `${path}?cursor=${cursor}`), 200);
  const changed = `${cursor!.slice(0, -2)}${cursor!.endsWith("AA") ? "BB" : "AA"}`;
  assertMailRefused(await rig.holder.ask("GET", `${path}?cursor=${changed}`), "invalid_json");
});

Deno.test("messages: a page ends by its bytes in UTF-8, and the next one goes on", async () => {
  const pageBytes = 20_000;
  await using rig = await startInboundRig({ limits: { pageBytes } });
  const subject = `=?utf-8?B?${Buffer.from("寿".repeat(400)).toString("base64")}?=`;
  const first = await rig.store({ headers: { Subject: subject } });
  await copyMessages(rig.kv, originalOf(rig, first), 40);
  const sizes: number[] = [];
  const seen: string[] = [];
  for (let cursor = ""; seen.length < 41;) {
    const answer = await fetch(
      `${rig.relay.url}/v1/mail/inboxes/${rig.inbox.id}/messages?order=asc&limit=100${cursor}`,
      { headers: { Authorization: `Bearer ${rig.holder.key}` } },
    );
    const bytes = await answer.bytes();
    sizes.push(bytes.length);
    const { data, next_cursor } = JSON.parse(new TextDecoder().decode(bytes));
    assert.ok(data.length > 0);
    seen.push(...data.map(({ id }: { id: string }) => id));
    cursor = `&cursor=${next_cursor}`;
  }
  assert.equal(new Set(seen).size, 41);
  assert.ok(sizes.length >= 3 && Math.max(...sizes) <= pageBytes + 1_000, sizes.join(" "));
});

Deno.test("messages: a page looks at 2,000 rows, and its cursor goes on where it ended", async () => {
  await using rig = await startInboundRig();
  const first = await rig.store({ text: "Your code is 482913.\r\n" });
  const { thread_id: thread } = await rig.get(`/v1/mail/messages/${first}`);
  await copyMessages(rig.kv, originalOf(rig, first), 2_050, () => ({ codes: [] }));
  const [last] = await copyMessages(rig.kv, originalOf(rig, first), 1);
  // By thread; all but the ends are left out.
  const query = `thread_id=${thread}&has_code=true&order=asc`;
  const page = await rig.list(`?${query}`);
  assert.deepEqual(page.data.map(({ id }: { id: string }) => id), [first]);
  // A wait does not look at more rows either: what is left to look at comes at once.
  const next = await rig.list(`?${query}&cursor=${page.next_cursor}&wait=25`);
  assert.deepEqual(next.data.map(({ id }: { id: string }) => id), [last]);
  const down = await pagesOf(rig, `thread_id=${thread}&has_code=true`);
  assert.deepEqual(down, { ids: [last, first], pages: 2 });
});

Deno.test("messages: asc polling loses nothing while mail comes, is read, labelled and deleted", async () => {
  await using rig = await startInboundRig({ limits: { mailInboundPerInboxPerHour: 10_000 } });
  const seen: string[] = [];
  let cursor = "";
  const poll = async () => {
    const page = await rig.list(`?order=asc&limit=3${cursor}`);
    assert.notEqual(page.next_cursor, null);
    seen.push(...page.data.map(({ id }: { id: string }) => id));
    cursor = `&cursor=${page.next_cursor}`;
    return page.data.length;
  };
  assert.equal(await poll(), 0);
  const stored = new Set<string>();
  for (let round = 0; round < 12; round++) {
    await Promise.all(Array.from({ length: 5 }, () => rig.deliver()));
    const { data } = await rig.list("?limit=5");
    for (const { id } of data) stored.add(id);
    await Promise.all([
      poll(),
      rig.holder.ask("PATCH", `/v1/mail/messages/${data[1].id}`, { body: { read: true } }),
      rig.holder.ask("PATCH", `/v1/mail/messages/${data[2].id}`, { body: { add_labels: ["a"] } }),
      rig.deliver({ raw: mailText({ text: `round ${round}` }) }),
      // What was seen already may go.
      ...seen.slice(-1).map((id) => rig.holder.ask("DELETE", `/v1/mail/messages/${id}`)),
    ]);
  }
  while (await poll() > 0);
  const left = (await pagesOf(rig, "order=asc&limit=100")).ids;
  assert.ok(left.length > 50);
  assert.equal(new Set(seen).size, seen.length, "something came twice");
  assert.deepEqual(seen, seen.toSorted());
  for (const id of [...left, ...stored]) assert.ok(seen.includes(id), `${id} was missed`);
});

Deno.test("messages: an empty asc page has a cursor, in an inbox that has never had mail too", async () => {
  await using rig = await startInboundRig();
  const empty = await rig.list("?order=asc&label=x");
  assert.equal(empty.data.length, 0);
  const id = await rig.store();
  accepted(
    await rig.holder.ask("PATCH", `/v1/mail/messages/${id}`, { body: { add_labels: ["x"] } }),
    200,
  );
  const next = await rig.list(`?order=asc&label=x&cursor=${empty.next_cursor}`);
  assert.deepEqual(next.data.map((row: { id: string }) => row.id), [id]);
  const then = await rig.list(`?order=asc&label=x&cursor=${next.next_cursor}`);
  assert.equal(then.data.length, 0);
  assert.equal(typeof then.next_cursor, "string");
});
