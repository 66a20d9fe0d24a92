// Over 300 lines: each race is one test, over the same two kinds of store.
/** Requests of the mail area that meet each other, at one relay and at two on one store. */
import assert from "node:assert/strict";
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { accepted, assertMailRefused, MailKeyHolder, newOrg } from "../support/mail_caller.ts";
import { type MailPair, type MailPairOptions, startMailPair } from "../support/mail_pair.ts";
import { askMail, type MailAnswer, signRegistration } from "../support/mail_relay.ts";
import { rowsNaming } from "../support/mail_store.ts";

const LIMITS = { mailRegistrationsPerIpPerHour: 10_000, mailInboxesPerTrial: 10 };
const PLACES: Record<string, MailPairOptions> = {
  "two relays": { limits: LIMITS },
  "one relay alone": { limits: LIMITS, alone: true },
};

/** What each answer came to: its status, or the code of the refusal, counted. */
function tally(answers: readonly MailAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const what = String(body?.error?.code ?? status);
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

/** So many calls at once, to one relay and the other in turn. */
function atOnce<T>(count: number, act: (i: number, at: 0 | 1) => Promise<T>) {
  return Promise.all(Array.from({ length: count }, (_, i) => act(i, (i % 2) as 0 | 1)));
}

async function orgAtBoth(pair: MailPair): Promise<[MailKeyHolder, MailKeyHolder]> {
  const owner = await newOrg(pair.relays[0]);
  return [owner, owner.at(pair.relays[1])];
}

for (const [place, options] of Object.entries(PLACES)) {
  Deno.test(`one registration sent 20 times at once makes one org, however it is signed, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const keys = generateKeyPair();
    const bodies = [0, 1, 2].map((s) => signRegistration(pair.clock.now() + s * 1000, keys));
    const answers = await atOnce(
      20,
      (i, at) =>
        askMail(pair.relays[at].url, "POST", "/v1/mail/agents/register", { body: bodies[i % 3] }),
    );
    assert.deepEqual(tally(answers), { 201: 1, handle_taken: 19 });
    const orgs = await Array.fromAsync(pair.kv.list({ prefix: ["mail-org"] }));
    const keyRows = await Array.fromAsync(pair.kv.list({ prefix: ["mail-key"] }));
    assert.deepEqual([orgs.length, keyRows.length], [1, 1]);
  });

  Deno.test(`20 orgs that want one address at once: one gets it, for the others it is taken, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owners = await atOnce(20, (_, at) => newOrg(pair.relays[at]));
    for (const localPart of ["bob", "BOB"]) {
      const answers = await Promise.all(
        owners.map((owner) => owner.createInbox({ local_part: localPart })),
      );
      const expected = localPart === "bob" ? { 201: 1, address_taken: 19 } : { address_taken: 20 };
      assert.deepEqual(tally(answers), expected);
    }
    const rows = await Array.fromAsync(pair.kv.list({ prefix: ["mail-address"] }));
    assert.deepEqual(rows.map(({ key }) => key[1]), ["bob"]);
  });

  Deno.test(`an address is never given out again: not after the inbox, not after the org, not to its own org, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const [one, two] = pair.relays;
    const owners = await orgAtBoth(pair);
    const inbox = await owners[0].inbox({ local_part: "bob" });
    accepted(await owners[1].ask("DELETE", `/v1/mail/inboxes/${inbox.address}`), 204);
    for (const owner of owners) {
      assertMailRefused(await owner.createInbox({ local_part: "bob" }), "address_taken");
      assertMailRefused(await owner.ask("GET", `/v1/mail/inboxes/bob@agents.test`), "not_found");
    }
    await owners[0].inbox({ local_part: "carol" });
    accepted(await owners[0].deleteOrg(), 204);
    await one.relay.crons.figures!();
    await two.relay.crons.figures!();
    const stranger = await newOrg(two);
    for (const localPart of ["bob", "carol"]) {
      assertMailRefused(await stranger.createInbox({ local_part: localPart }), "address_taken");
      const path = `/v1/mail/inboxes/${localPart}@agents.test`;
      assertMailRefused(await stranger.ask("GET", path), "not_found");
    }
  });

  Deno.test(`one client_id 20 times at once: one inbox, the others are shown it; after its deletion a new one, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owners = await orgAtBoth(pair);
    const answers = await atOnce(20, (i, at) =>
      owners[at].createInbox({
        client_id: "job-1",
        ...(i < 10 ? { local_part: `p${i}` } : {}),
        display_name: `${i}`,
        allow_send: ["x.org"],
        allow_receive: ["y.org"],
        block_receive: ["z.org"],
      }));
    assert.deepEqual(tally(answers), { 201: 1, 200: 19 });
    const made = answers.find(({ status }) => status === 201)!.body;
    for (const { body } of answers) assert.deepEqual(body, made);
    assert.equal(accepted(await owners[0].readOrg(), 200).inboxes.count, 1);
    const addresses = await Array.fromAsync(pair.kv.list({ prefix: ["mail-address"] }));
    assert.equal(addresses.length, 1);

    // Another org's client_ids are its own.
    const [other] = await orgAtBoth(pair);
    assert.notEqual((await other.inbox({ client_id: "job-1" })).id, made.id);

    accepted(await owners[1].ask("DELETE", `/v1/mail/inboxes/${made.id}`), 204);
    const again = await owners[0].inbox({ client_id: "job-1" });
    assert.notEqual(again.id, made.id);
    assert.equal(accepted(await owners[1].createInbox({ client_id: "job-1" }), 200).id, again.id);
  });

  Deno.test(`a client_id is answered with its inbox where the org has no room for another, at ${place}`, async () => {
    await using pair = await startMailPair({ ...options, limits: {} });
    const owner = await newOrg(pair.relays[0]);
    const made = await owner.inbox({ client_id: "a", local_part: "bob" });
    const again = await owner.createInbox({ client_id: "a", local_part: "carol" });
    assert.deepEqual(accepted(again, 200), made);
    assertMailRefused(await owner.createInbox({ client_id: "b" }), "inbox_limit_reached");
  });

  Deno.test(`of the last two owner keys, deleted at once over two relays, one stays and works, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    for (let round = 0; round < 10; round++) {
      const owner = await newOrg(pair.relays[0]);
      const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
      const firstId = data[0].id;
      const { id: secondId, api_key } = await owner.newKey({ name: "2" });
      const second = owner.at(pair.relays[1]).with(api_key);
      await owner.newKey({ name: "reader", permissions: ["inbox:read"] });
      const answers = await Promise.all([
        owner.ask("DELETE", `/v1/mail/api-keys/${secondId}`),
        second.ask("DELETE", `/v1/mail/api-keys/${firstId}`),
      ]);
      assert.equal(tally(answers)[204], 1, JSON.stringify(tally(answers)));
      const left = [(await owner.readOrg()).status, (await second.readOrg()).status].sort();
      assert.deepEqual(left, [200, 401]);
    }
  });

  Deno.test(`last_key holds for what is left: read-only, inbox-scoped and expired keys do not keep an org, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owner = await newOrg(pair.relays[0]);
    const inbox = await owner.inbox();
    pair.clock.advance(1); // so that the first key is the oldest
    const soon = new Date(pair.clock.now() + 1000).toISOString();
    await owner.newKey({ name: "reader", permissions: ["inbox:read"] });
    await owner.newKey({ name: "of an inbox", scope: "inbox", inbox_id: inbox.id });
    await owner.newKey({ name: "mortal", expires_at: soon });
    pair.clock.advance(1000);
    const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
    const [first, ...others] = data.map(({ id }: { id: string }) => `/v1/mail/api-keys/${id}`);
    assertMailRefused(await owner.ask("DELETE", first), "last_key");
    for (const path of others) {
      accepted(await owner.ask("DELETE", path), 204);
      assertMailRefused(await owner.ask("DELETE", path), "not_found");
    }
    assertMailRefused(await owner.ask("DELETE", first), "last_key");
    const heir = await owner.newKey({ name: "heir", permissions: ["inbox:write"] });
    accepted(await owner.ask("DELETE", first), 204);
    assertMailRefused(await owner.readOrg(), "unknown_key");
    assertMailRefused(await owner.with(heir.api_key).readOrg(), "insufficient_permission");
  });

  Deno.test(`the last key that outlives the next day stays, one that does not may go, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owner = await newOrg(pair.relays[0]);
    const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
    const first = `/v1/mail/api-keys/${data[0].id}`;
    const until = (hours: number) => new Date(pair.clock.now() + hours * 3_600_000).toISOString();
    const brief = await owner.newKey({ name: "brief", expires_at: until(23) });
    const other = await owner.newKey({ name: "other", expires_at: until(24) });
    for (const key of [owner.key, brief.api_key, other.api_key]) {
      const answer = await owner.with(key).ask("DELETE", first);
      assertMailRefused(answer, "last_key", /another 24 hours/);
    }
    // It would leave nobody who could manage the org tomorrow, whatever it leaves today.
    accepted(await owner.readOrg(), 200);
    accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${other.id}`), 204);
    const longer = await owner.newKey({ name: "longer", expires_at: until(25) });
    accepted(await owner.ask("DELETE", first), 204);
    const heir = owner.with(longer.api_key);
    pair.clock.advance(2 * 3_600_000);
    // A leaked key that ends within the day can be deleted, though none outlives the day any more.
    accepted(await heir.ask("DELETE", `/v1/mail/api-keys/${brief.id}`), 204);
    assertMailRefused(await heir.ask("DELETE", `/v1/mail/api-keys/${longer.id}`), "last_key");
  });

  Deno.test(`an inbox that is deleted while keys are made for it leaves no key that lives, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owners = await orgAtBoth(pair);
    for (let round = 0; round < 10; round++) {
      const inbox = await owners[0].inbox();
      const [deleted, ...made] = await Promise.all([
        owners[0].ask("DELETE", `/v1/mail/inboxes/${inbox.id}`),
        ...[0, 1, 0, 1].map((at) =>
          owners[at]!.createKey({ name: "k", scope: "inbox", inbox_id: inbox.id })
        ),
      ]);
      accepted(deleted, 204);
      for (const answer of made) {
        if (answer.status !== 201) assertMailRefused(answer, "not_found");
        else {
          const holder = owners[1].with(answer.body.api_key);
          assertMailRefused(await holder.ask("GET", "/v1/mail/inboxes"), "unknown_key");
        }
      }
      const { data } = accepted(await owners[0].ask("GET", "/v1/mail/api-keys"), 200);
      assert.equal(data.length, 1);
      assert.equal(accepted(await owners[0].readOrg(), 200).inboxes.count, 0);
    }
  });

  Deno.test(`one inbox deleted 10 times at once is counted off once, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owners = await orgAtBoth(pair);
    const [gone] = [await owners[0].inbox(), await owners[0].inbox()];
    const answers = await atOnce(
      10,
      (_, at) => owners[at].ask("DELETE", `/v1/mail/inboxes/${gone.id}`),
    );
    assert.deepEqual(tally(answers), { 204: 1, not_found: 9 });
    assert.equal(accepted(await owners[1].readOrg(), 200).inboxes.count, 1);
  });

  Deno.test(`an org deleted 10 times at once is deleted once, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owners = await orgAtBoth(pair);
    const answers = await atOnce(10, (_, at) => owners[at].deleteOrg());
    const { 204: deleted = 0, unknown_key: late = 0 } = tally(answers);
    assert.ok(deleted >= 1 && deleted + late === 10, JSON.stringify(tally(answers)));
    const logged = new Set(pair.relays).values().flatMap(({ logged }) => logged);
    const events = [...logged].filter(({ event }) => event === "mail_org_deleted");
    assert.equal(events.length, 1);
  });

  Deno.test(`changes of one inbox at once over two relays are each whole, and none undoes another's field, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    const owners = await orgAtBoth(pair);
    const { id } = await owners[0].inbox();
    const path = `/v1/mail/inboxes/${id}`;
    const changes: object[] = [
      { display_name: "a" },
      { retention_days: 7 },
      { send_policy: "draft_only" },
      { allow_send: ["a.org"] },
      { allow_receive: ["b.org"] },
      { block_receive: ["c.org"] },
    ];
    const answers = await atOnce(
      changes.length,
      (i, at) => owners[at].ask("PATCH", path, { body: changes[i] }),
    );
    assert.deepEqual(answers.map(({ status }) => status), changes.map(() => 200));
    for (const owner of owners) {
      const shown = accepted(await owner.ask("GET", path), 200);
      for (const change of changes) assert.deepEqual({ ...shown, ...change }, shown);
    }
  });

  Deno.test(`what is made while the org is deleted is made before and erased with it, or refused, at ${place}`, async () => {
    await using pair = await startMailPair(options);
    for (let round = 0; round < 8; round++) {
      const owners = await orgAtBoth(pair);
      const [deleted, ...others] = await Promise.all([
        owners[round % 2]!.deleteOrg(),
        ...[0, 1, 0, 1].map((at) =>
          owners[at]!.createInbox({ client_id: "c", allow_send: ["a.b"] })
        ),
        ...[0, 1].map((at) => owners[at]!.createKey({ name: "k" })),
      ]);
      accepted(deleted, 204);
      for (const answer of others) {
        if (answer.status >= 300) assertMailRefused(answer, "unknown_key");
      }
      for (const { relay } of pair.relays) await relay.crons.figures!();
      const left = await rowsNaming(pair.kv, owners[0].orgId);
      assert.deepEqual(
        left.filter((row) => !/"mail-address"|"mail-public-key"|"mail-trial"/.test(row)),
        [],
      );
    }
  });
}

Deno.test("over a store that loses answers and repeats commits, what is acknowledged is there once", async () => {
  const share = 0.05;
  const faults = { deniedSuccess: share, lostAnswer: share, locked: share, repeated: share };
  await using pair = await startMailPair({ limits: LIMITS, fake: { faults: {}, delayMs: 1 } });
  const owners = await orgAtBoth(pair);
  for (const fake of pair.fakes) Object.assign(fake.faults, faults);
  const answers = await atOnce(
    60,
    (i, at) =>
      i % 3 === 2
        ? owners[at].createKey({ name: `k${i}` })
        : i % 3 === 1
        ? owners[at].createInbox({ client_id: `c${i % 5}` })
        : askMail(pair.relays[at].url, "POST", "/v1/mail/agents/register", {
          body: signRegistration(pair.clock.now()),
        }),
  );
  for (const fake of pair.fakes) {
    Object.assign(fake.faults, { deniedSuccess: 0, lostAnswer: 0, locked: 0, repeated: 0 });
  }
  const registered = answers.filter(({ status, body }) => status === 201 && body.agent_id);
  const numbers = registered.map(({ body }) => body.agent_id);
  assert.equal(new Set(numbers).size, numbers.length);
  for (const { body } of registered) {
    const owner = new MailKeyHolder(pair.relays[0].url, body.api_key, body.org_id);
    accepted(await owner.readOrg(), 200);
  }
  const { data: inboxes } = accepted(await owners[0].ask("GET", "/v1/mail/inboxes"), 200);
  assert.equal(accepted(await owners[0].readOrg(), 200).inboxes.count, inboxes.length);
  assert.ok(inboxes.length <= 5);
  const { data: keys } = accepted(await owners[0].ask("GET", "/v1/mail/api-keys"), 200);
  const names = keys.map(({ name }: { name: string }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { status, body } of answers) {
    if (status === 201 && body.api_key && body.name) assert.ok(names.includes(body.name));
    if (body.address) {
      assert.ok(inboxes.some(({ id }: { id: string }) => id === body.id));
    }
    if (status >= 300) assert.ok([503, 500].includes(status), JSON.stringify(body));
  }
});
