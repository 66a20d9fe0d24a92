/** The erasure of orgs: what is left of them, and a sweep that is stopped, frozen or overtaken. */
import assert from "node:assert/strict";
import { createTestClock } from "../../support/clock.ts";
import { newKey } from "../../support/custody_key.ts";
import { createFakeKv, NO_FAULTS } from "../../support/fake_kv.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming, verifyOrg } from "../../support/mail_store.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { listRows } from "../../support/store_rows.ts";

import {
  assertErased,
  interrupted,
  LIMITS,
  makeVictim,
  openSweeper,
  registerAgain,
  REPLAY_MS,
  type Sweeper,
  withDeletedOrg,
} from "./erasure_world.ts";

const TRIAL_GONE_MS = 32 * 86_400_000;

Deno.test("an erased org leaves its addresses, and for the replay window the binding of its key pair", () =>
  withDeletedOrg(async (world) => {
    const { kv, relay, clock, victim } = world;
    await relay.relay.crons.figures!();
    await assertErased(world);
    const left = await rowsNaming(kv, victim.holder.orgId);
    assert.equal(left.filter((row) => row.includes('"mail-address"')).length, 3);
    assert.equal(left.length, 4, left.join("\n"));
    assert.ok(
      relay.logged.some(({ event, fields }) =>
        event === "mail_org_erased" && fields.org_id === victim.holder.orgId
      ),
    );
    clock.advance(REPLAY_MS);
    const again = await registerAgain(world);
    assert.equal(accepted(await again.ask("GET", "/v1/mail/inboxes"), 200).data.length, 0);
    assert.equal((await rowsNaming(kv, victim.holder.orgId)).length, 3);
    // Nothing more is done in later minutes.
    const rows = await listRows(kv);
    await relay.relay.crons.figures!();
    const used = (lines: string[]) =>
      lines.filter((line) => !/mail-key-used|lease|"attempt", /.test(line));
    assert.deepEqual(used(await listRows(kv)), used(rows));
  }));

Deno.test("an erasure that is stopped anywhere is ended by the next process", async () => {
  let ended = false;
  let stops = 0;
  for (; !ended; stops++) {
    const atList = stops + 1;
    await withDeletedOrg(async (world) => {
      const { kv, clock } = world;
      const store = interrupted(kv, atList, () => {
        void first.erasures.close();
        return Promise.resolve();
      });
      const first: Sweeper = await openSweeper(world, store.kv);
      await first.erasures.run();
      await first.close();
      ended = !store.came();
      // A process that was killed holds its lease until it ends.
      clock.advance(60_000);
      const second = await openSweeper(world, kv);
      await second.erasures.run();
      await second.close();
      await assertErased(world);
    });
  }
  assert.ok(stops > 3, String(stops));
});

Deno.test("a process frozen anywhere in its erasure undoes nothing of its successors", async () => {
  let ended = false;
  let stops = 0;
  for (; !ended; stops++) {
    const atList = 2 * stops + 1;
    await withDeletedOrg(async (world) => {
      const { kv, clock, relay } = world;
      let again: MailKeyHolder | undefined;
      const store = interrupted(kv, atList, async () => {
        clock.advance(REPLAY_MS);
        await relay.relay.crons.figures!();
        again = await registerAgain(world);
      });
      const frozen = await openSweeper(world, store.kv);
      await frozen.erasures.run();
      await frozen.close();
      ended = !store.came();
      clock.advance(60_000);
      await relay.relay.crons.figures!();
      await assertErased(world);
      if (again !== undefined) accepted(await again.readOrg(), 200);
    });
  }
  assert.ok(stops > 2, String(stops));
});

Deno.test("processes that erase at one time leave nothing", () =>
  withDeletedOrg(async (world) => {
    const sweepers = await Promise.all([1, 2, 3].map(() => openSweeper(world, world.kv)));
    await Promise.all(sweepers.map(({ erasures }) => erasures.run()));
    for (const { erasures } of sweepers) await erasures.run();
    for (const sweeper of sweepers) await sweeper.close();
    await assertErased(world);
  }));

for (let seed = 1; seed <= 3; seed++) {
  Deno.test(`an erasure on a bad KV server ends as it should, seed ${seed}`, () =>
    withDeletedOrg(async (world) => {
      const share = 0.1;
      const faults = { deniedSuccess: share, lostAnswer: share, locked: share, repeated: share };
      const fake = createFakeKv({ kv: world.kv, seed, faults, delayMs: 1 });
      const sweeper = await openSweeper(world, fake);
      for (let attempt = 0; attempt < 20; attempt++) {
        try {
          await sweeper.erasures.run();
        } catch {
          world.clock.advance(60_000); // the next minute tries again
        }
      }
      Object.assign(fake.faults, NO_FAULTS);
      world.clock.advance(60_000);
      await sweeper.erasures.run();
      await sweeper.close();
      await assertErased(world);
    }));
}

Deno.test("the purge of trials erases those that are due, all in one run, and no others", async () => {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  await using relay = await startMailRelay({
    config: { sharedStore: true, custodyKeys: [newKey()] },
    deps: { kv, now: clock.now },
    limits: LIMITS,
  });
  Object.assign(relay, { clock });
  const due = [];
  for (let i = 0; i < 12; i++) due.push(await makeVictim(relay, kv));
  clock.advance(1);
  const later = await makeVictim(relay, kv);
  const verified = await makeVictim(relay, kv);
  await verifyOrg(kv, verified.holder.orgId, clock.now());
  clock.advance(31 * 86_400_000 - 1);
  await relay.relay.crons.figures!();
  for (const { holder, keys } of due) {
    const rows = await rowsNaming(kv, holder.orgId);
    assert.ok(rows.every((row) => row.includes('"mail-address"')), keys.address);
  }
  assertMailRefused(await later.holder.readOrg(), "trial_expired");
  accepted(await verified.holder.readOrg(), 200);
  clock.advance(TRIAL_GONE_MS);
  await relay.relay.crons.figures!();
  const orgs = await Array.fromAsync(kv.list({ prefix: ["mail-org"] }));
  assert.deepEqual(orgs.map(({ key }) => key[1]), [verified.holder.orgId]);
  assert.deepEqual(await Array.fromAsync(kv.list({ prefix: ["mail-trial"] })), []);
});
