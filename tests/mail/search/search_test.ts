/** GET /v1/mail/search from mail that came to what is found, on both kinds of store. */
import assert from "node:assert/strict";
import {
  accepted,
  assertMailRefused,
  type MailKeyHolder,
  newOrg,
} from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startMailStore } from "../../support/mail_store.ts";
import { receive } from "../../support/mail_tools.ts";
import type { TestRelay } from "../../support/relay.ts";

interface Found {
  message: { id: string; subject: string };
  highlights: { subject: string[]; text: string[] };
}

function search(holder: MailKeyHolder, q: string, more: Record<string, string> = {}) {
  return holder.ask("GET", `/v1/mail/search?${new URLSearchParams({ q, ...more })}`);
}

async function subjects(
  holder: MailKeyHolder,
  q: string,
  more: Record<string, string> = {},
): Promise<string[]> {
  const { data } = accepted(await search(holder, q, more), 200);
  return data.map(({ message }: Found) => message.subject);
}

const UTF8 = { "Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": "8bit" };
const FILE = "From: Carol Jones <carol@files.example>\r\nCc: dave@cc.example\r\nSubject: file\r\n" +
  'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n\r\nSee there.\r\n' +
  '--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="invoice-2026.pdf"\r\n\r\n' +
  "PDF\r\n--b--\r\n";

async function fill(relay: TestRelay, holder: MailKeyHolder) {
  const inbox = await holder.inbox({ local_part: "ada" });
  const mails: Parameters<typeof receive>[2][] = [
    { headers: { Subject: "first", ...UTF8 }, text: "The Crème brûlée is\r\nready on Friday.\r\n" },
    { headers: { Subject: "second lunch", ...UTF8 }, text: "日本語のメール, lunch again\r\n" },
    { headers: { Subject: "third" }, text: `${"filler ".repeat(20_000)} needle at the end\r\n` },
    { raw: FILE },
  ];
  for (const mail of mails) {
    relay.clock.advance(1_000);
    await receive(relay, inbox.address, mail);
  }
  return inbox;
}

for (const kind of ["exclusive", "shared"]) {
  Deno.test(`search finds words in every field, the newest first (${kind} store)`, async () => {
    await using world = kind === "shared" ? await startMailStore() : null;
    await using alone = kind === "shared" ? null : await startMailRelay();
    const relay = world?.relay ?? alone!;
    const holder = await newOrg(relay);
    const inbox = await fill(relay, holder);
    const cases: [q: string, found: string[]][] = [
      ["creme BRÛLÉE", ["first"]],
      ['"ready on friday"', ["first"]],
      ['"friday ready"', []],
      ["lunch", ["second lunch"]],
      ["日本語", ["second lunch"]],
      ["本日", []],
      ["needle", ["third"]],
      ["carol", ["file"]],
      ["carol@files.example", ["file"]],
      ["dave", ["file"]],
      ["invoice 2026", ["file"]],
      ["sender", ["third", "second lunch", "first"]],
      ["sender needle", ["third"]],
      ["sender needl", []],
      ["", []],
      ["!?", []],
    ];
    for (const [q, found] of cases) assert.deepEqual(await subjects(holder, q), found, q);
    const { data } = accepted(await search(holder, "lunch"), 200);
    assert.deepEqual(data[0].highlights, {
      subject: ["second lunch"],
      text: ["日本語のメール, lunch again"],
    });

    const row = data[0].message;
    const at = row.created_at;
    assert.deepEqual(await subjects(holder, "sender", { before: at }), ["first"]);
    assert.deepEqual(await subjects(holder, "sender", { after: at }), ["third", "second lunch"]);
    assert.deepEqual(await subjects(holder, "sender", { direction: "outbound" }), []);
    assert.deepEqual(await subjects(holder, "sender", { inbox_id: inbox.address }), [
      ...["third", "second lunch", "first"],
    ]);
    accepted(await holder.ask("DELETE", `/v1/mail/messages/${row.id}`), 204);
    assert.deepEqual(await subjects(holder, "lunch"), []);
  });
}

Deno.test("search pages by its cursor, which is good for the same search alone", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  await fill(relay, holder);
  const seen: string[] = [];
  let more: Record<string, string> = {};
  for (let pages = 0; pages < 9; pages++) {
    const { data, next_cursor } = accepted(
      await search(holder, "sender", { limit: "1", ...more }),
      200,
    );
    seen.push(...data.map(({ message }: Found) => message.subject));
    if (next_cursor === null) break;
    more = { cursor: next_cursor };
  }
  assert.deepEqual(seen, ["third", "second lunch", "first"]);
  const { next_cursor: cursor } = accepted(await search(holder, "sender", { limit: "1" }), 200);
  const others: Record<string, string>[] = [
    { direction: "inbound" },
    { after: "2026-01-01T00:00:00Z" },
  ];
  for (const other of others) {
    assertMailRefused(await search(holder, "sender", { cursor, ...other }), "invalid_json");
  }
  assertMailRefused(await search(holder, "Sender", { cursor }), "invalid_json");
});

Deno.test("search refuses what is no search", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const ask = (query: string) => holder.ask("GET", `/v1/mail/search${query}`);
  const refused = [
    "",
    "?q=a&q=b",
    `?q=${"x".repeat(501)}`,
    "?q=x&after=today",
    "?q=x&direction=in",
  ];
  for (const query of refused) assertMailRefused(await ask(query), "invalid_json");
  assertMailRefused(await ask("?q=x&inbox_id=nobody@agents.test"), "not_found");
});
