/** A program that answers all that it is given, as the documents show it: it does not answer itself. */
import assert from "node:assert/strict";
import { accepted, type MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { mailDone, receive, verifiedOrg } from "../../support/mail_tools.ts";
import { sentMessages } from "../../support/draft_world.ts";
import { deliver, takenFor } from "../../support/sending_org.ts";

const ROUNDS = 4;

/** The query of the poll that docs/mail.md shows. */
async function documentedQuery(): Promise<string> {
  const page = await Deno.readTextFile(new URL("../../../docs/mail.md", import.meta.url));
  const section = page.split("### Waiting for mail")[1]!.split("\n### ")[0]!;
  const [, query] = /\/messages\?([a-z_=&]+)/.exec(section)!;
  return query!;
}

type Poll = (cursor: string | null) => Promise<{ ids: string[]; cursor: string }>;

/** Answers what each round gives; mail comes before the first and the third one. */
async function answerAll(
  relay: Awaited<ReturnType<typeof startMailRelay>>,
  by: MailKeyHolder,
  inbox: { id: string; address: string },
  poll: Poll,
): Promise<void> {
  let cursor: string | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 2 === 0) await receive(relay, inbox.address, { from: "ann@example.org" });
    const page = await poll(cursor);
    cursor = page.cursor;
    for (const id of page.ids) {
      accepted(
        await by.ask("POST", `/v1/mail/messages/${id}/reply`, { body: { text: "Yes" } }),
        202,
      );
    }
  }
}

Deno.test("the poll of docs/mail.md, answering everything, answers each mail once and itself never", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  const query = await documentedQuery();
  await answerAll(relay, holder, inbox, async (cursor) => {
    const after = cursor === null ? "" : `&cursor=${cursor}`;
    const path = `/v1/mail/inboxes/${inbox.id}/messages?${query}${after}`;
    const { data, next_cursor } = accepted(await holder.ask("GET", path), 200);
    return { ids: data.map(({ id }: { id: string }) => id), cursor: next_cursor };
  });
  assert.equal((await sentMessages(holder, inbox.id)).length, ROUNDS / 2);
});

Deno.test("check_inbox, answering everything, answers each mail once; with direction=all the own ones are there", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  const check = async (args: Record<string, string | boolean>) =>
    (await mailDone(holder, "check_inbox", { inbox_id: inbox.id, ...args })).structured;
  await answerAll(relay, holder, inbox, async (cursor) => {
    const page = await check(cursor === null ? {} : { cursor });
    return {
      ids: page.messages.map(({ id }: { id: string }) => id),
      cursor: page.next_cursor,
    };
  });
  assert.equal((await sentMessages(holder, inbox.id)).length, ROUNDS / 2);
  const all = await check({ direction: "all" });
  assert.equal(all.messages.length, ROUNDS);
  // A cursor is a place: what follows it is told by either.
  const first = await check({ direction: "all", limit: 1 } as never);
  assert.equal((await check({ cursor: first.next_cursor })).messages.length, 1);
  const rest = await check({ cursor: first.next_cursor, direction: "all" });
  assert.equal(rest.messages.length, ROUNDS - 1);
  assert.deepEqual((await check({ cursor: all.next_cursor })).messages, []);
});

Deno.test("a Reply-To that names an address of bounces has no answer come back to the inbox", async () => {
  await using relay = await startMailRelay();
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  const inbound = async () => {
    const path = `/v1/mail/inboxes/${inbox.id}/messages?direction=inbound`;
    return accepted(await holder.ask("GET", path), 200).data as { id: string }[];
  };
  const answer = async () => {
    const [{ id }] = await inbound() as [{ id: string }];
    const body = { text: "Yes" };
    accepted(await holder.ask("POST", `/v1/mail/messages/${id}/reply`, { body }), 202);
    await deliver(relay);
  };
  await receive(relay, inbox.address, { headers: { From: "ann@example.org" } });
  await answer();
  const [first] = await takenFor(relay, "ann@example.org");
  assert.match(first!.envelope.from, /^bounce\+/);
  await receive(relay, inbox.address, {
    headers: { "From": "ann@example.org", "Message-ID": "<2@x>", "Reply-To": first!.envelope.from },
  });
  await answer();
  assert.equal((await takenFor(relay, "ann@example.org")).length, 2);
  assert.equal((await inbound()).length, 2);
});
