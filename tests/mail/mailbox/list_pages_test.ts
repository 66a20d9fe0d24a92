/** Lists of the mail area, page by page (docs/api.md, "The mail area"). */
import assert from "node:assert/strict";
import {
  accepted,
  assertMailRefused,
  type MailKeyHolder,
  newOrg,
} from "../../support/mail_caller.ts";
import type { TestRelay } from "../../support/relay.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";

const LIMITS = { mailInboxesPerTrial: 130, mailKeysPerOrg: 60, mailRegistrationsPerIpPerHour: 100 };
const LISTS = ["/v1/mail/inboxes", "/v1/mail/api-keys"];

async function filledOrg(relay: TestRelay, count: number): Promise<MailKeyHolder> {
  const owner = await newOrg(relay);
  // The clock stands: all are made in one millisecond.
  for (let i = 0; i < count; i++) {
    await owner.inbox({ local_part: `p${i}-${owner.orgId.slice(4)}` });
  }
  for (let i = 1; i < Math.min(count, 60); i++) await owner.newKey({ name: `${i}` });
  return owner;
}

interface Page {
  data: { id: string }[];
  next_cursor: string | null;
}

async function readPage(
  owner: MailKeyHolder,
  path: string,
  limit: number,
  cursor: string | null,
): Promise<Page> {
  const query = `limit=${limit}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
  return accepted(await owner.ask("GET", `${path}?${query}`), 200);
}

/** Ids of the whole list by pages. @param between done after each page */
async function walk(
  owner: MailKeyHolder,
  path: string,
  limit: number,
  between: (page: Page) => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await readPage(owner, path, limit, cursor);
    assert.ok(page.data.length <= limit);
    if (page.next_cursor !== null) assert.equal(page.data.length, limit);
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
    await between(page);
  } while (cursor !== null);
  return ids;
}

Deno.test("pages of 1, 2, 7, 59, 60 and 100 rows give every inbox and key once, in one order, oldest first", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await filledOrg(relay, 60);
  for (const path of LISTS) {
    const whole = await walk(owner, path, 100);
    assert.equal(new Set(whole).size, 60);
    for (const limit of [1, 2, 7, 59, 60]) {
      assert.deepEqual(await walk(owner, path, limit), whole, `${path} by ${limit}`);
    }
    relay.clock.advance(1);
  }
  const late = await owner.inbox();
  assert.equal((await walk(owner, "/v1/mail/inboxes", 7)).at(-1), late.id);
});

Deno.test("limit is 50 when absent and clamped to 1 and 100; what is no integer is 400", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await filledOrg(relay, 110);
  const rows = async (query: string) =>
    accepted(await owner.ask("GET", `/v1/mail/inboxes${query}`), 200).data.length;
  assert.equal(await rows(""), 50);
  assert.equal(await rows("?limit=0"), 1);
  assert.equal(await rows("?limit=-5"), 1);
  assert.equal(await rows("?limit=1"), 1);
  assert.equal(await rows("?limit=100"), 100);
  assert.equal(await rows("?limit=101"), 100);
  assert.equal(await rows("?limit=99999999999999999999"), 100);
  assert.equal(await rows("?unknown=x&limit=2"), 2);
  for (const query of ["limit=", "limit=x", "limit=1.0", "limit=1&limit=1", "cursor=", "cursor"]) {
    for (const path of LISTS) {
      const answer = await owner.ask("GET", `${path}?${query}`);
      assertMailRefused(answer, "invalid_json", /limit|cursor/);
    }
  }
});

Deno.test("what is deleted between pages is neither shown nor makes anything else missing", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await filledOrg(relay, 12);
  for (const path of LISTS) {
    const whole = await walk(owner, path, 100);
    const own = path.endsWith("keys") ? (await keyIdOf(owner)) : "";
    let deleted: string[] = [];
    const seen = await walk(owner, path, 3, async ({ data }) => {
      if (data.length === 0) return; // all that came after the cursor has been deleted
      // The last of the page, on which the cursor stands, and the next one.
      const at = whole.indexOf(data.at(-1)!.id);
      const victims = whole.slice(at, at + 2).filter((id) => id !== own);
      for (const id of victims) accepted(await owner.ask("DELETE", `${path}/${id}`), 204);
      deleted = [...deleted, ...victims];
    });
    const missing = whole.filter((id) => !seen.includes(id));
    assert.ok(missing.every((id) => deleted.includes(id)), path);
    assert.deepEqual(seen, whole.filter((id) => seen.includes(id)));
    assert.equal(new Set(seen).size, seen.length);
  }
});

/** Of the key that registration made. */
async function keyIdOf(owner: MailKeyHolder): Promise<string> {
  const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys?limit=100"), 200);
  return data.find(({ name }: { name: string }) => name === "registration").id;
}

Deno.test("a cursor holds for its org, its list and the scope of its key, and for any limit", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const [owner, other] = [await filledOrg(relay, 5), await filledOrg(relay, 5)];
  const inboxes = await readPage(owner, "/v1/mail/inboxes", 2, null);
  const keys = await readPage(owner, "/v1/mail/api-keys", 2, null);
  const second = owner.with((await owner.newKey({ name: "second" })).api_key);
  for (const holder of [owner, second]) {
    for (const limit of [1, 3]) {
      const page = await readPage(holder, "/v1/mail/inboxes", limit, inboxes.next_cursor);
      assert.ok(page.data[0]!.id > inboxes.data[1]!.id);
      await readPage(holder, "/v1/mail/api-keys", limit, keys.next_cursor);
    }
  }
  const scoped = owner.with(
    (await owner.newKey({ name: "s", scope: "inbox", inbox_id: inboxes.data[0]!.id })).api_key,
  );
  const wrong: [MailKeyHolder, string, string][] = [
    [owner, "/v1/mail/inboxes", keys.next_cursor!],
    [owner, "/v1/mail/api-keys", inboxes.next_cursor!],
    [other, "/v1/mail/inboxes", inboxes.next_cursor!],
    [other, "/v1/mail/api-keys", keys.next_cursor!],
    [scoped, "/v1/mail/inboxes", inboxes.next_cursor!],
  ];
  for (const [holder, path, cursor] of wrong) {
    assertMailRefused(await holder.ask("GET", `${path}?cursor=${cursor}`), "invalid_json");
  }
});

Deno.test("a cursor with any character changed, added or left out is 400, never 500 and never another page", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await filledOrg(relay, 3);
  const cursor = (await readPage(owner, "/v1/mail/inboxes", 1, null)).next_cursor!;
  assert.match(cursor, /^[A-Za-z0-9_-]+$/);
  const half = cursor.slice(0, cursor.length / 2);
  const altered = new Set<string>([
    "x",
    ".",
    half,
    `${cursor}.`,
    `.${cursor}`,
    `${cursor}${cursor}`,
    `${half}.${cursor.slice(half.length)}`,
    `${cursor}=`,
    `${cursor}A`,
    ` ${cursor}`,
    `${cursor}\n`,
    `!${cursor}`,
    "é".repeat(cursor.length),
    `${half}é${cursor.slice(half.length + 1)}`,
    `${half}+${cursor.slice(half.length + 1)}`,
    "x".repeat(5000),
  ]);
  for (let i = 0; i < cursor.length; i++) {
    for (const other of ["A", "B", "_", "Q"]) {
      if (other !== cursor[i]) altered.add(cursor.slice(0, i) + other + cursor.slice(i + 1));
    }
    if (i % 9 === 0) altered.add(cursor.slice(0, i) + cursor.slice(i + 1));
  }
  for (const one of altered) {
    const path = `/v1/mail/inboxes?cursor=${encodeURIComponent(one)}`;
    const answer = await askMail(owner.url, "GET", path, { key: owner.key });
    assert.equal(answer.body?.error?.code, "invalid_json", `${one} ${answer.status}`);
  }
  await readPage(owner, "/v1/mail/inboxes", 1, cursor);
});
