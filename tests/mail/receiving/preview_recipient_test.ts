/** What a mail server is told of a recipient before the message, against what becomes of the message. */
import assert from "node:assert/strict";
import { storageKey } from "../../../server/mail/core/storage_quota.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import type { AnnouncedMail, RefusedCode } from "../../../server/mail/receiving/received_mail.ts";
import type { Previewed } from "../../../server/mail/receiving/preview_recipient.ts";
import type { Receiver } from "../../../server/mail/receiving/receiver.ts";
import { DAY_MS, HOUR_MS } from "../../../server/base/time/time_units.ts";
import { mailText } from "../../support/inbound_mail.ts";
import { type InboundRigOptions, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { propertyRuns } from "../../support/property_runs.ts";
import { openReceiverBeside, type ReceiverBesideOptions } from "../../support/receiver_beside.ts";
import fc from "../../support/seeded_fast_check.ts";
import { deliver, send, takenFor } from "../../support/sending_org.ts";
import { listRows } from "../../support/store_rows.ts";

const ENVELOPE: AnnouncedMail = {
  from: "ann@else.test",
  clientIp: "192.0.2.1",
  clientHelo: "mx.else.test",
};
const encoder = new TextEncoder();

async function startWorld(options: InboundRigOptions = {}, besides?: ReceiverBesideOptions) {
  const rig = await startInboundRig(options);
  const beside = await openReceiverBeside(rig.relay, besides);
  const { receiver } = beside;
  return {
    ...rig,
    ...beside,
    preview: (address: string, fields: Partial<AnnouncedMail> = {}) =>
      receiver.preview({ ...ENVELOPE, ...fields }, address),
    receive: (address: string, fields: Partial<AnnouncedMail> = {}, raw = mailText()) =>
      receive(receiver, { ...ENVELOPE, ...fields }, address, raw),
    changeOrg: (changes: Partial<OrgRecord>) => changeOrg(rig.kv, rig.holder.orgId, changes),
    async [Symbol.asyncDispose]() {
      await beside[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
}

async function receive(
  receiver: Receiver,
  { sizeBytes: _, ...envelope }: AnnouncedMail,
  address: string,
  raw: string,
): Promise<RefusedCode | null> {
  const mail = { ...envelope, to: [address], raw: encoder.encode(raw), reachesOperator: true };
  return (await receiver.receive(mail)).outcomes[0]!.code;
}

async function changeOrg(kv: Deno.Kv, orgId: string, changes: Partial<OrgRecord>): Promise<void> {
  const { value } = await kv.get<OrgRecord>(orgKey(orgId));
  await kv.set(orgKey(orgId), { ...value, ...changes });
}

/** Where a wait is told besides, that it is. */
function codeOf(previewed: Previewed): RefusedCode | "operator" | null {
  if (typeof previewed === "string" || previewed === null) return previewed;
  assert.ok(previewed.retryAfterMs > 0 && previewed.retryAfterMs <= HOUR_MS);
  return previewed.code;
}

Deno.test("preview tells unknown, blocked, suspended, full and busy inboxes from open ones", async () => {
  await using world = await startWorld({
    inbox: { block_receive: ["bad.test"] },
    limits: { mailInboundPerInboxPerHour: 2, mailStorageBytesPerOrg: 100_000 },
  });
  const { inbox, kv, holder, preview, receive, changeOrg } = world;
  const full = await holder.inbox({ local_part: "grace" });
  assert.equal(await preview(inbox.address), null);
  assert.equal(await preview(inbox.address.toUpperCase().replace("@", "+x@")), null);
  assert.equal(await preview("nobody@agents.test"), "not_found");
  assert.equal(await preview(inbox.address.replace("agents.test", "else.test")), "not_found");
  assert.equal(await preview(inbox.address, { from: "x@BAD.test" }), "blocked");
  assert.equal(await preview(inbox.address, { from: "" }), null);
  assert.equal(await preview(full.address, { sizeBytes: 99_000 }), null);
  assert.equal(await preview(full.address, { sizeBytes: 100_001 }), "over_quota");
  await kv.set(storageKey(holder.orgId), { v: 1, bytes: 100_000 });
  assert.equal(await preview(full.address), "over_quota");
  await kv.set(storageKey(holder.orgId), { v: 1, bytes: 0 });
  for (let i = 0; i < 2; i++) assert.equal(await receive(inbox.address), null);
  assert.deepEqual(codeOf(await preview(inbox.address)), "rate_limited");
  assert.equal(await preview(full.address), null);
  await changeOrg({ suspendedAtMs: 1 });
  assert.equal(await preview(inbox.address), "org_suspended");
  await changeOrg({ suspendedAtMs: null, deletedAtMs: 1 });
  assert.equal(await preview(inbox.address), "not_found");
});

Deno.test("preview has a sender wait while as many messages of an inbox are under way as may wait", async () => {
  const checks = Promise.withResolvers<void>();
  await using world = await startWorld({}, { beforeChecks: () => checks.promise });
  const { inbox, holder, preview, receive } = world;
  const other = await holder.inbox({ local_part: "grace" });
  const come = (i: number) =>
    receive(inbox.address, {}, mailText({ headers: { Subject: `${i}` } }));
  const taken = Array.from({ length: 63 }, (_, i) => come(i));
  for (let i = 0; i < 100; i++) assert.equal(await preview(inbox.address), null);
  taken.push(come(63));
  const askOn = async () => {
    for (let i = 0; i < 1_000; i++) assert.equal(await preview(inbox.address), null);
  };
  await assert.rejects(askOn, { code: "unavailable", message: /too many/ });
  assert.equal(await preview(other.address), null);
  checks.resolve();
  assert.deepEqual(await Promise.all(taken), taken.map(() => null));
  assert.equal(await preview(inbox.address), null);
});

Deno.test("preview answers for an expired trial's inbox as for one that is there", async () => {
  await using world = await startWorld({ trial: true });
  const { inbox, relay, preview, receive } = world;
  relay.clock.advance(25 * HOUR_MS);
  assert.deepEqual([await preview(inbox.address), await receive(inbox.address)], [null, null]);
  assert.equal(await preview(inbox.address, { sizeBytes: 2 ** 40 }), null);
  relay.clock.advance(31 * DAY_MS);
  assert.equal(await preview(inbox.address), "not_found");
});

Deno.test("preview asks a client whose rate is used up to come later", async () => {
  await using world = await startWorld({ limits: { mailInboundPerClientPerHour: 2 } });
  const { inbox, preview, receive, relay } = world;
  for (let i = 0; i < 2; i++) assert.equal(await receive(inbox.address), null);
  assert.equal(codeOf(await preview(inbox.address)), "rate_limited");
  assert.equal(await preview(inbox.address, { clientIp: "192.0.2.2" }), null);
  assert.equal(await preview(inbox.address, { clientIp: null }), null);
  relay.clock.advance(HOUR_MS);
  assert.equal(await preview(inbox.address), null);
});

Deno.test("preview puts everyone off below mailMinFreeDiskBytes whom it would not refuse for good", async () => {
  await using rig = await startInboundRig({ limits: { mailMinFreeDiskBytes: 2 } });
  const measureFreeBytes = () => Promise.resolve(1);
  await using beside = await openReceiverBeside(rig.relay, { measureFreeBytes });
  for (const address of [rig.inbox.address, "abuse@agents.test"]) {
    await assert.rejects(beside.receiver.preview(ENVELOPE, address), { code: "unavailable" });
  }
  assert.equal(await beside.receiver.preview(ENVELOPE, "nobody@agents.test"), "not_found");
});

Deno.test("preview knows a bounce address by its HMAC alone, and for 30 days", async () => {
  await using world = await startWorld();
  const { holder, inbox, relay, preview, takeCounts } = world;
  accepted(await send(holder, inbox, { to: "ann@example.org" }), 202);
  await deliver(relay);
  const [taken] = await takenFor(relay, "ann@example.org");
  const bounce = taken!.envelope.from;
  const at = bounce.indexOf("@");
  const last = bounce[at - 1] === "2" ? "3" : "2";
  const forged = `${bounce.slice(0, at - 1)}${last}${bounce.slice(at)}`;
  assert.equal(await preview(bounce.toUpperCase(), { from: "" }), null);
  takeCounts();
  assert.equal(await preview(forged), "not_found");
  assert.deepEqual(takeCounts(), {}, "what was not made here is not looked up");
  assert.equal(await preview("bounce@agents.test"), "not_found");
  assert.equal(await preview("bounce+x@agents.test"), "not_found");
  relay.clock.advance(31 * DAY_MS);
  assert.equal(await preview(bounce), "not_found");
});

Deno.test("preview takes mail for the operator, while he is to get more", async () => {
  await using world = await startWorld();
  const { preview, receive, relay } = world;
  assert.equal(await preview("Postmaster@agents.test"), "operator");
  assert.equal(await preview("abuse+x@AGENTS.test"), "operator");
  for (let i = 0; i < 20; i++) assert.equal(await receive("abuse@agents.test"), null);
  assert.equal(codeOf(await preview("postmaster@agents.test")), "rate_limited");
  assert.equal(codeOf(await preview("postmaster@agents.test", { from: "" })), "rate_limited");
  relay.clock.advance(HOUR_MS);
  assert.equal(await preview("postmaster@agents.test"), "operator");
});

Deno.test("preview tells a client that tries names nothing more of any inbox, and reads nothing for it", async () => {
  await using world = await startWorld({ limits: { mailUnknownPerClientPerHour: 5 } });
  const { inbox, relay, preview, takeCounts } = world;
  for (let i = 0; i < 5; i++) assert.equal(await preview(`name${i}@agents.test`), "not_found");
  takeCounts();
  for (const address of ["name6@agents.test", inbox.address]) {
    assert.equal(codeOf(await preview(address)), "rate_limited");
  }
  assert.deepEqual(takeCounts(), {});
  assert.equal(await preview("postmaster@agents.test"), "operator");
  for (const clientIp of ["192.0.2.2", null]) {
    assert.equal(await preview(inbox.address, { clientIp }), null);
    assert.equal(await preview("name6@agents.test", { clientIp }), "not_found");
  }
  relay.clock.advance(HOUR_MS);
  assert.equal(await preview(inbox.address), null);
});

Deno.test("preview reads at most nine rows, asks no DNS and writes nothing, however often it refuses", async () => {
  await using world = await startWorld({
    inbox: {
      allow_receive: ["good.test"],
      block_receive: ["bad.test"],
      allow_send: ["good.test"],
    },
  });
  const { inbox, kv, preview, takeCounts } = world;
  const before = await listRows(kv, { marks: true });
  takeCounts();
  const costs: [address: string, from: string, rows: number, told: Previewed][] = [
    [inbox.address, "a@good.test", 9, null],
    [inbox.address, "a@bad.test", 6, "blocked"],
    ["nobody@agents.test", "a@good.test", 1, "not_found"],
    ["postmaster@agents.test", "a@good.test", 1, "operator"],
    ["bounce+1@agents.test", "a@good.test", 0, "not_found"],
  ];
  for (let round = 0; round < 3; round++) {
    for (const [address, from, rows, told] of costs) {
      assert.equal(await preview(address, { from }), told);
      const counts = takeCounts();
      // Once, the secret that bounce addresses are made with.
      delete counts["mail-secret"];
      const read = Object.values(counts).reduce((sum, one) => sum + one, 0);
      assert.equal(read, rows, JSON.stringify([address, from, counts]));
    }
  }
  assert.deepEqual(await listRows(kv, { marks: true }), before);
});

Deno.test("recipients that preview refuses count with their client, as refused messages do", async () => {
  await using world = await startWorld({
    inbox: { block_receive: ["bad.test"] },
    limits: { mailInboundPerClientPerHour: 3 },
  });
  const { inbox, preview, receive } = world;
  const bad = { from: "x@bad.test" };
  for (let i = 0; i < 3; i++) assert.equal(await preview(inbox.address, bad), "blocked");
  assert.equal(codeOf(await preview(inbox.address)), "rate_limited");
  assert.equal(await receive(inbox.address), "rate_limited");
  // What needs no more than the envelope is still told for good.
  assert.equal(await preview(inbox.address, bad), "blocked");
  assert.equal(await preview("nobody@agents.test"), "not_found");
  assert.equal(await receive(inbox.address, { clientIp: "192.0.2.2" }), null);
});

Deno.test("an envelope counts once with its client, however many of its recipients refuse it", async () => {
  await using world = await startWorld({
    inbox: { block_receive: ["bad.test"] },
    limits: { mailInboundPerClientPerHour: 2 },
  });
  const { inbox, preview, receiver } = world;
  const envelope = { ...ENVELOPE, from: "x@bad.test" };
  const tagged = (tag: number) => inbox.address.replace("@", `+${tag}@`);
  for (let tag = 0; tag < 5; tag++) {
    assert.equal(await receiver.preview(envelope, tagged(tag)), "blocked");
  }
  assert.equal(await preview(inbox.address), null);
  assert.equal(await receiver.preview({ ...envelope }, inbox.address), "blocked");
  assert.equal(codeOf(await preview(inbox.address)), "rate_limited");
});

Deno.test("an inbox of known senders alone puts off a client whose mail it had to read too often", async () => {
  await using world = await startWorld({
    inbox: { allow_receive: ["good.test"] },
    limits: { mailInboundPerInboxPerHour: 2 },
  });
  const { inbox, preview, receive } = world;
  const forged = () => mailText({ headers: { From: "a@good.test" } });
  for (let i = 0; i < 2; i++) {
    assert.equal(await preview(inbox.address), null);
    assert.equal(await receive(inbox.address, {}, forged()), "blocked");
  }
  assert.equal(codeOf(await preview(inbox.address)), "rate_limited");
  assert.equal(await preview(inbox.address, { from: "b@other.test" }), null);
});

Deno.test("preview and receive agree on all that the envelope decides, whatever came before", async () => {
  const step = fc.record({
    to: fc.constantFrom("ada", "Ada+tag", "closed", "grace", "trial", "nobody", "postmaster"),
    from: fc.constantFrom("", "a@else.test", "a@bad.test", "b@BAD.test."),
    clientIp: fc.constantFrom("192.0.2.1", "2001:db8::1", null),
    bytes: fc.constantFrom(300, 3_000, 30_000),
    then: fc.constantFrom("nothing", "nothing", "suspend", "resume", "fill", "empty", "minutes"),
  });
  const told = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using world = await startWorld({
        limits: {
          mailInboundPerInboxPerHour: 3,
          mailInboundPerTrialInboxPerHour: 2,
          mailInboundPerClientPerHour: 6,
          mailInboundBytesPerInboxPerHour: 40_000,
          mailStorageBytesPerOrg: 150_000,
          mailUnknownPerClientPerHour: 1_000,
        },
      });
      const { relay, kv, holder } = world;
      await holder.inbox({ local_part: "closed", block_receive: ["bad.test"] });
      await holder.inbox({ local_part: "grace" });
      await (await newOrg(relay)).inbox({ local_part: "trial" });
      for (const { to, from, clientIp, bytes, then } of steps) {
        const raw = mailText({ text: "x".repeat(bytes) });
        const envelope = { from, clientIp };
        const address = `${to}@agents.test`;
        const previewed = codeOf(
          await world.preview(address, { ...envelope, sizeBytes: raw.length }),
        );
        const received = await world.receive(address, envelope, raw);
        told.add(`${previewed}`);
        // What parsing makes of a message is kept with it: that alone may not fit.
        if (previewed === null && received === "over_quota") continue;
        assert.equal(received, previewed === "operator" ? null : previewed);
        if (then === "suspend") await world.changeOrg({ suspendedAtMs: 1 });
        if (then === "resume") await world.changeOrg({ suspendedAtMs: null });
        if (then === "minutes") relay.clock.advance(20 * 60_000);
        if (then === "fill" || then === "empty") {
          const stored = then === "fill" ? 149_000 : 0;
          await kv.set(storageKey(holder.orgId), { v: 1, bytes: stored });
        }
      }
    }),
    propertyRuns(8, false),
  );
  assert.deepEqual(
    [...told].toSorted(),
    ["blocked", "not_found", "null", "operator", "org_suspended", "over_quota", "rate_limited"],
  );
});
