/** What a key may touch beyond its routes: its own inbox, its own org, no more than itself. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";

const LIMITS = { mailInboxesPerTrial: 10 };
const READ = "inbox:read";
const WRITE = "inbox:write";

async function twoOrgs(relay: TestRelay) {
  const [owner, other] = [await newOrg(relay), await newOrg(relay)];
  const [own] = [await owner.inbox(), await owner.inbox()];
  const foreign = await other.inbox();
  return { owner, other, inboxes: { own: own.id, foreign: foreign.id } };
}

Deno.test("an inbox-scoped key lists its own inbox alone, and finds no other by id or address", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const { owner, inboxes } = await twoOrgs(relay);
  const made = await owner.newKey({ name: "k", scope: "inbox", inbox_id: inboxes.own });
  assert.deepEqual([made.scope, made.inbox_id], ["inbox", inboxes.own]);
  const holder = owner.with(made.api_key);
  const list = accepted(await holder.ask("GET", "/v1/mail/inboxes?limit=1"), 200);
  assert.deepEqual(list.data.map(({ id }: { id: string }) => id), [inboxes.own]);
  assert.equal(list.next_cursor, null);
  const { data } = accepted(await owner.ask("GET", "/v1/mail/inboxes"), 200);
  for (const { id, address } of data) {
    for (const named of [id, address, address.toUpperCase(), encodeURIComponent(address)]) {
      const answer = await holder.ask("GET", `/v1/mail/inboxes/${named}`);
      if (id === inboxes.own) assert.equal(accepted(answer, 200).id, id);
      else assertMailRefused(answer, "not_found");
    }
  }
});

Deno.test("another org's inbox is no inbox, whichever way it is named, and no key can be made for it", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const { owner, other, inboxes } = await twoOrgs(relay);
  const { address } = accepted(
    await other.ask("GET", `/v1/mail/inboxes/${inboxes.foreign}`),
    200,
  );
  for (const named of [inboxes.foreign, address]) {
    const path = `/v1/mail/inboxes/${named}`;
    assertMailRefused(await owner.ask("GET", path), "not_found");
    assertMailRefused(await owner.ask("PATCH", path, { body: {} }), "not_found");
    assertMailRefused(await owner.ask("DELETE", path), "not_found");
    const key = { name: "k", scope: "inbox", inbox_id: named };
    assertMailRefused(await owner.createKey(key), "not_found");
  }
});

Deno.test("a key gives no permission that it lacks and no life beyond its own", async () => {
  await using relay = await startMailRelay({ limits: LIMITS });
  const owner = await newOrg(relay);
  const { clock } = relay;
  const in10Days = new Date(clock.now() + 10 * 86_400_000).toISOString();
  const in11Days = new Date(clock.now() + 11 * 86_400_000).toISOString();
  const writer = owner.with(
    (await owner.newKey({ name: "w", permissions: [WRITE], expires_at: in10Days })).api_key,
  );
  assertMailRefused(
    await writer.createKey({ name: "x", permissions: [READ] }),
    "insufficient_permission",
  );
  assertMailRefused(
    await writer.createKey({ name: "x", permissions: [READ, WRITE] }),
    "insufficient_permission",
  );
  assertMailRefused(await writer.createKey({ name: "x", expires_at: in11Days }), "invalid_json");
  const made = await writer.newKey({ name: "x" });
  assert.deepEqual([made.permissions, made.expires_at], [[WRITE], in10Days]);
});
