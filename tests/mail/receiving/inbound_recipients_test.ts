/** POST /v1/mail/inbound/raw: who gets a message, who does not and why, and what counts as a repetition. */
import assert from "node:assert/strict";
import { mailText } from "../../support/inbound_mail.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { orgKey } from "../../../server/mail/records/org_record.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../server/base/time/time_units.ts";

Deno.test("inbound/raw: each address gets its answer, in the spelling of the envelope", async () => {
  await using rig = await startInboundRig();
  const other = await rig.holder.inbox({
    local_part: "grace",
    block_receive: ["else.test"],
  });
  const to = [
    "ADA@AGENTS.TEST",
    "nobody@agents.test",
    "ada+Tag+more@agents.test",
    "Grace@agents.test",
    "ada@elsewhere.test",
    "ada@agents.test.",
    "@agents.test",
    "agents.test",
    "+tag@agents.test",
    "ada@sub.agents.test",
    "ada",
    "a d a@agents.test",
    `${"a".repeat(100)}@agents.test`,
  ];
  const { body } = await rig.deliver({ to });
  assert.deepEqual(body.accepted, ["ADA@AGENTS.TEST", "ada+Tag+more@agents.test"]);
  const codes = Object.fromEntries(
    body.rejected.map(({ address, code }: Record<string, string>) => [address, code]),
  );
  assert.equal(codes["Grace@agents.test"], "blocked");
  const unknown = to.filter((one) => !/^ada.*@agents\.test$/i.test(one) && !/^grace/i.test(one));
  assert.ok(unknown.length > 0);
  for (const address of unknown) assert.equal(codes[address], "not_found", address);
  const { data } = await rig.list();
  assert.equal(data.length, 1);
  assert.deepEqual(data[0].envelope.to, ["ADA@AGENTS.TEST", "ada+Tag+more@agents.test"]);
  const theirs = await rig.get(`/v1/mail/inboxes/${other.id}/messages`);
  assert.equal(theirs.data.length, 0);
});

Deno.test("inbound/raw: nobody of the envelope takes it: 404 with the codes counted", async () => {
  await using rig = await startInboundRig({ inbox: { block_receive: ["else.test"] } });
  const answer = await rig.deliver({ to: [rig.inbox.address, "x@agents.test", "y@agents.test"] });
  assertMailRefused(answer, "not_found", /blocked: 1, not_found: 2/);
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  assert.ok(!JSON.stringify(answer.body).includes("@"));
});

Deno.test("inbound/raw: block_receive looks at the envelope sender and at From, without case", async () => {
  await using rig = await startInboundRig({
    inbox: { block_receive: ["bad@one.test", "two.test", "*.three.test"] },
  });
  const blocked: [from: string, header: string][] = [
    ["BAD@one.TEST", "good@else.test"],
    ["good@else.test", "Bad <bad@ONE.test>"],
    ["any@two.test", "good@else.test"],
    ["", "x@two.test"],
    ["any@deep.three.test", "good@else.test"],
  ];
  assert.ok(blocked.length > 0);
  for (const [from, header] of blocked) {
    const raw = mailText({ headers: { From: header } });
    assertMailRefused(await rig.deliver({ from, raw }), "not_found", /blocked: 1/);
  }
  const taken: [from: string, header: string][] = [
    ["good@one.test", "good@one.test"],
    ["x@sub.two.test", "x@sub.two.test"],
    ["x@three.test", "x@three.test"],
    ["", "x@else.test"],
  ];
  assert.ok(taken.length > 0);
  for (const [from, header] of taken) {
    accepted(await rig.deliver({ from, raw: mailText({ headers: { From: header } }) }), 200);
  }
  assert.equal((await rig.list()).data.length, taken.length);
});

Deno.test("inbound/raw: allow_receive takes nobody whose mail did not pass", async () => {
  await using rig = await startInboundRig({ inbox: { allow_receive: ["else.test"] } });
  assertMailRefused(await rig.deliver(), "not_found", /blocked: 1/);
  const stranger = mailText({ headers: { From: "x@other.test" } });
  assertMailRefused(await rig.deliver({ raw: stranger }), "not_found", /blocked: 1/);
  const nobody = mailText({ headers: { From: "" } });
  assertMailRefused(await rig.deliver({ raw: nobody }), "not_found", /blocked: 1/);
});

Deno.test("inbound/raw: 100 recipients are taken together and a hundred spellings are one message", async () => {
  await using rig = await startInboundRig();
  const to = Array.from({ length: 100 }, (_, i) => `ada+${i}@agents.test`);
  const { body } = await rig.deliver({ to });
  assert.deepEqual(body, { accepted: to, rejected: [] });
  const { data } = await rig.list();
  assert.equal(data.length, 1);
  assert.equal(data[0].envelope.to.length, 100);
  const many = Array.from({ length: 101 }, (_, i) => `ada+${i}@agents.test`);
  assertMailRefused(await rig.deliver({ to: many }), "invalid_json");
});

Deno.test("inbound/raw: an address that is named twice is answered and stored once", async () => {
  await using rig = await startInboundRig();
  const { body } = await rig.deliver({ to: [rig.inbox.address, rig.inbox.address] });
  assert.deepEqual(body.accepted, [rig.inbox.address]);
  assert.equal((await rig.list()).data.length, 1);
});

Deno.test("inbound/raw: the same bytes and sender are stored once in 24 hours, also after a deletion", async () => {
  await using rig = await startInboundRig();
  const raw = mailText();
  accepted(await rig.deliver({ raw }), 200);
  const bytes = await rig.storedBytes();
  assert.ok(bytes > raw.length);
  accepted(await rig.deliver({ raw }), 200);
  assert.equal((await rig.list()).data.length, 1);
  assert.equal(await rig.storedBytes(), bytes);
  // Another sender, or one byte more, is another message.
  accepted(await rig.deliver({ raw, from: "" }), 200);
  accepted(await rig.deliver({ raw: `${raw} ` }), 200);
  assert.equal((await rig.list()).data.length, 3);

  const { data } = await rig.list("?order=asc");
  accepted(await rig.holder.ask("DELETE", `/v1/mail/messages/${data[0].id}`), 204);
  rig.relay.clock.advance(DAY_MS - MINUTE_MS);
  const { body } = await rig.deliver({ raw });
  assert.deepEqual(body.accepted, [rig.inbox.address]);
  assert.equal((await rig.list()).data.length, 2);
  rig.relay.clock.advance(MINUTE_MS);
  accepted(await rig.deliver({ raw }), 200);
  assert.equal((await rig.list()).data.length, 3);
});

Deno.test("inbound/raw: a repetition for a further inbox is stored for that one alone", async () => {
  await using rig = await startInboundRig();
  const other = await rig.holder.inbox({ local_part: "grace" });
  const raw = mailText();
  accepted(await rig.deliver({ raw }), 200);
  const { body } = await rig.deliver({ raw, to: [other.address, rig.inbox.address] });
  assert.deepEqual(body.accepted, [other.address, rig.inbox.address]);
  assert.equal((await rig.list()).data.length, 1);
  assert.equal((await rig.get(`/v1/mail/inboxes/${other.id}/messages`)).data.length, 1);
});

Deno.test("inbound/raw: a message that is handed in for several recipients, again and again for days, is stored once", async () => {
  await using rig = await startInboundRig();
  const { clock } = rig.relay;
  const other = await rig.holder.inbox({ local_part: "grace" });
  const raw = mailText();
  for (let hours = 0; hours < 72; hours += 6) {
    accepted(await rig.deliver({ raw, to: [rig.inbox.address, other.address] }), 200);
    if (hours === 12) clock.leap(-30 * HOUR_MS);
    clock.advance(6 * HOUR_MS);
    await rig.relay.relay.crons["figures"]!();
  }
  for (const { id } of [rig.inbox, other]) {
    assert.equal((await rig.get(`/v1/mail/inboxes/${id}/messages`)).data.length, 1);
  }
  const count = async (prefix: string[]) => (await Array.fromAsync(rig.kv.list({ prefix }))).length;
  assert.equal(await count(["mail-repeat"]), 2);
  assert.equal(await count(["repetition", "mail-repeat"]), 2, "of each its last time alone");
});

for (
  const [what, leapMs, messages] of [["", 0, 2], [", after a leap back", -72 * HOUR_MS, 1]] as const
) {
  Deno.test(`inbound/raw: a message that comes while its mark is swept is known from then on${what}`, async () => {
    await using rig = await startInboundRig();
    const { clock, relay } = rig.relay;
    const other = await rig.holder.inbox({ local_part: "grace" });
    const raw = mailText();
    const deliver = async () => {
      accepted(await rig.deliver({ raw, to: [rig.inbox.address, other.address] }), 200);
    };
    await deliver();
    clock.leap(leapMs);
    clock.advance(26 * HOUR_MS + MINUTE_MS);
    // Behind what the sweep reads, before it commits.
    const { kv } = rig;
    const getMany = kv.getMany.bind(kv);
    let comes = true;
    kv.getMany = (async (keys: Deno.KvKey[]) => {
      const rows = await getMany(keys);
      if (comes && keys.some(([table]) => table === "mail-repeat")) {
        comes = false;
        await deliver();
      }
      return rows;
    }) as typeof kv.getMany;
    await relay.crons["figures"]!();
    assert.equal(comes, false);
    clock.advance(HOUR_MS);
    await deliver();
    for (const { id } of [rig.inbox, other]) {
      const { data } = await rig.get(`/v1/mail/inboxes/${id}/messages`);
      assert.equal(data.length, messages);
    }
  });
}

Deno.test("inbound/raw: a webhook-id is answered the same for 10 minutes, whatever comes under it", async () => {
  await using rig = await startInboundRig();
  const raw = mailText();
  const first = await rig.deliver({ id: "one", raw });
  assert.equal(first.status, 200);
  rig.relay.clock.advance(10 * MINUTE_MS - 1);
  const again = await rig.deliver({ id: "one", to: ["nobody@agents.test"], raw: mailText() });
  assert.deepEqual([again.status, again.body], [200, first.body]);
  const refused = await rig.deliver({ id: "two", to: ["nobody@agents.test"] });
  assertMailRefused(refused, "not_found");
  const nobody = await rig.deliver({ id: "two", raw: mailText() });
  assert.deepEqual([nobody.status, nobody.body], [404, refused.body]);
  assert.equal((await rig.list()).data.length, 1);
  rig.relay.clock.advance(10 * MINUTE_MS);
  accepted(await rig.deliver({ id: "one", raw: mailText() }), 200);
  assert.equal((await rig.list()).data.length, 2);
  // A stranger who learns an id cannot have its answer: the signature stands before the memory.
  const forged = await rig.deliver({ id: "one", secret: new Uint8Array(32) });
  assertMailRefused(forged, "invalid_signature");
});

Deno.test("inbound/raw: of ten requests under one webhook-id at one time one is stored", async () => {
  await using rig = await startInboundRig();
  const raw = mailText();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => rig.deliver({ id: "same", raw })),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal((await rig.list()).data.length, 1);
});

Deno.test("inbound/raw: an expired trial takes mail and drops it, a purged one has no inbox", async () => {
  await using rig = await startInboundRig({ trial: true });
  rig.relay.clock.advance(24 * HOUR_MS);
  accepted(await rig.deliver(), 200);
  assert.equal((await Array.fromAsync(rig.kv.list({ prefix: ["mail-message"] }))).length, 0);
  assert.equal(await rig.storedBytes(), 0);
  rig.relay.clock.advance(30 * DAY_MS);
  assertMailRefused(await rig.deliver(), "not_found");
});

Deno.test("inbound/raw: a suspended org's inbox rejects, and the others of the envelope get theirs", async () => {
  await using rig = await startInboundRig();
  const key = orgKey(rig.holder.orgId);
  const { value } = await rig.kv.get<object>(key);
  await rig.kv.set(key, { ...value, suspendedAtMs: rig.relay.clock.now() });
  assertMailRefused(await rig.deliver(), "not_found", /org_suspended: 1/);
  await rig.kv.set(key, value);
  accepted(await rig.deliver(), 200);
});

Deno.test("inbound/raw: an org that is deleted while its mail is read rejects it as unknown", async () => {
  await using rig = await startInboundRig();
  const answers = await Promise.all([
    ...Array.from({ length: 12 }, () => rig.deliver()),
    rig.holder.deleteOrg(),
    ...Array.from({ length: 12 }, () => rig.deliver()),
  ]);
  const statuses = [...new Set(answers.map(({ status }) => status))];
  assert.ok(statuses.every((status) => [200, 204, 404].includes(status)), statuses.join());
});
