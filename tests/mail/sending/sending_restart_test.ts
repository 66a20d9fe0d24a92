/** Idempotency keys over restarts of the relay, and a next hop that is down for hours. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { startNextHopRelay } from "../../support/next_hop_relay.ts";
import { deliver, listMessages, readMessage, send } from "../../support/sending_org.ts";

const MINUTE_MS = 60_000;

Deno.test("a key is answered the same after a restart, and a request that met a full disk has released it", async () => {
  await using world = await startNextHopRelay();
  const { inbox } = world;
  const headers = { "Idempotency-Key": "over the restart" };
  const large = { text: "x".repeat(50_000) };
  const first = accepted(await send(world.owner, inbox, large, headers), 202);
  await world.restart({ isDiskFull: true });
  const again = await send(world.owner, inbox, large, headers);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(again.body, first);
  const other = { "Idempotency-Key": "while the disk is full" };
  const full = await send(world.owner, inbox, {}, other);
  assertMailRefused(full, "unavailable");
  assert.ok(Number(full.headers.get("retry-after")) > 0);
  assertMailRefused(await send(world.owner, inbox, {}, headers), "idempotency_key_reused");
  await world.restart();
  const late = await send(world.owner, inbox, {}, other);
  assert.equal(late.headers.get("idempotent-replayed"), null);
  accepted(late, 202);
  assert.equal((await listMessages(world.owner, inbox)).length, 2);
  await deliver(world.relay);
  assert.equal(world.smtp.contents.length, 2);
});

Deno.test("a next hop that is down for six hours delays mail, and loses and doubles none", async () => {
  await using world = await startNextHopRelay();
  const { inbox, smtp, relay, owner } = world;
  smtp.script({ greeting: "cut" });
  const ids: string[] = [];
  for (let i = 0; i < 8; i++) {
    ids.push(accepted(await send(owner, inbox, { to: `r${i}@example.org` }), 202).id);
  }
  for (let minutes = 0; minutes < 6 * 60; minutes += 10) {
    await deliver(relay);
    relay.clock.advance(10 * MINUTE_MS);
  }
  await deliver(relay); // what the last minutes have made due
  const waiting = await readMessage(owner, ids[0]!);
  assert.ok(["deferred", "queued"].includes(waiting.status), waiting.status);
  assert.equal(smtp.contents.length, 0);
  smtp.script({});
  for (let i = 0; i < 60 && smtp.contents.length < 8; i++) {
    relay.clock.advance(10 * MINUTE_MS);
    await deliver(relay);
  }
  await deliver(relay);
  const statuses = (await listMessages(owner, inbox)).map(({ status }) => status);
  assert.deepEqual(statuses, Array(8).fill("sent"));
  assert.equal(smtp.contents.length, 8);
});
