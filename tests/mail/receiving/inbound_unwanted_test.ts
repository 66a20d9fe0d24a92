/** Mail that an inbox does not want: what it costs, what it counts as, and that it shuts out nobody else. */
import assert from "node:assert/strict";
import { makeDkimKey, signedNaming } from "../../support/dkim_mail.ts";
import { type ScriptedRecords, startScriptedDns } from "../../support/dns_server.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import {
  type InboundRig,
  type InboundRigOptions,
  startInboundRig,
} from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { listRows } from "../../support/store_rows.ts";

const KEY = makeDkimKey();
const ZONE: Record<string, ScriptedRecords> = {
  "TXT s1._domainkey.good.example": { TXT: [KEY.record] },
  "TXT _dmarc.good.example": { TXT: ["v=DMARC1; p=reject"] },
};
const NAMES = ["from", "to", "subject", "message-id"];
const mailFrom = (address: string) => mailText({ headers: { From: address } });
const signedBy = (address: string) =>
  signedNaming(mailFrom(address), NAMES, { domain: "good.example", key: KEY });
/** A header so long that only the parser looks for From in it. */
const unreadable = (address: string) => `X-Long: ${"x".repeat(40_000)}\r\n${mailFrom(address)}`;

interface World extends InboundRig {
  asked: string[];
  zone: Map<string, ScriptedRecords>;
}

async function startWorld(options: InboundRigOptions = {}): Promise<World> {
  const dns = startScriptedDns(ZONE);
  const rig = await startInboundRig({ ...options, dns: dns.server });
  return {
    ...rig,
    asked: dns.asked,
    zone: dns.zone,
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await dns[Symbol.asyncDispose]();
    },
  };
}

const client = (client_ip: string) => ({ envelope: { client_ip } });
const CROWD = { ...client("198.51.100.1"), from: "x@crowd.example" };

Deno.test("what the lists refuse by envelope or From is neither parsed nor looked up, and takes no rate", async () => {
  const lists: [inbox: Record<string, unknown>, from: string, address: string][] = [
    [{ block_receive: ["bad.example"] }, "x@bad.example", "a@good.example"],
    [{ block_receive: ["bad.example"] }, "x@else.example", "a@BAD.example"],
    [{ block_receive: ["a@bad.example"] }, "", '"b@good.example" <A@bad.example>'],
    [{ allow_receive: ["good.example"] }, "x@good.example", "a@bad.example"],
    [{ allow_receive: ["good.example"] }, "x@good.example", "nobody"],
  ];
  const limits = { mailInboundPerInboxPerHour: 3 };
  for (const [inbox, from, address] of lists) {
    await using world = await startWorld({ inbox, limits });
    const { asked, deliver, kv } = world;
    const before = await listRows(kv, { marks: true });
    for (let i = 0; i < 6; i++) {
      // Parsing waits for the checks that begin with it: without a question neither was begun.
      const answer = await deliver({ from, raw: mailFrom(address), ...client("192.0.2.1") });
      assertMailRefused(answer, "not_found", /blocked: 1/);
    }
    assert.deepEqual(asked, []);
    // No blob, no count, and no answer kept in a commit.
    assert.deepEqual(await listRows(kv, { marks: true }), before);
    for (let i = 0; i < 3; i++) accepted(await deliver({ raw: signedBy("a@good.example") }), 200);
    assert.equal((await world.list()).data.length, 3);
  }
});

Deno.test("what only reading can refuse is refused by it, and read a bounded number of times", async () => {
  const cases: [inbox: Record<string, unknown>, raw: string][] = [
    [{ block_receive: ["bad.example"] }, unreadable("a@bad.example")],
    [{ allow_receive: ["good.example"] }, mailFrom("a@good.example")],
    [{ allow_receive: ["good.example"] }, unreadable("a@bad.example")],
  ];
  for (const [inbox, raw] of cases) {
    await using world = await startWorld({ inbox, limits: { mailInboundPerInboxPerHour: 3 } });
    const { asked, deliver } = world;
    const another = (i: number) => `${raw}${i}`;
    for (let i = 0; i < 3; i++) {
      assertMailRefused(await deliver({ ...CROWD, raw: another(i) }), "not_found", /blocked: 1/);
    }
    assert.ok(asked.length > 0);
    asked.length = 0;
    for (let i = 3; i < 6; i++) {
      const answer = await deliver({ ...CROWD, raw: another(i) });
      assertMailRefused(answer, "unavailable");
      assert.ok(Number(answer.headers.get("retry-after")) > 3_000);
    }
    assert.deepEqual(asked, [], "not read any more");
    // What needs no reading is still told for good, and nobody else is shut out.
    const blocked = inbox["block_receive"] === undefined ? "a@other.example" : "a@bad.example";
    const cheap = await deliver({ ...CROWD, raw: mailFrom(blocked) });
    assertMailRefused(cheap, "not_found", /blocked: 1/);
    const signed = () => signedBy("a@good.example");
    accepted(await deliver({ ...CROWD, from: "a@good.example", raw: signed() }), 200);
    accepted(await deliver({ ...CROWD, ...client("198.51.100.2"), raw: signed() }), 200);
    accepted(await deliver({ from: CROWD.from, raw: signed() }), 200);
  }
});

Deno.test("of forged mails that come at once no more are read than may be refused", async () => {
  for (const limit of ["mailInboundPerInboxPerHour", "mailInboundPerClientPerHour"] as const) {
    await using world = await startWorld({
      inbox: { allow_receive: ["good.example"] },
      limits: { [limit]: 3 },
    });
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) => world.deliver({ ...CROWD, raw: `${mailFrom("a@good.example")}${i}` }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [...Array(3).fill(404), ...Array(17).fill(503)], limit);
    const read = world.asked.filter((question) => question === "TXT _dmarc.good.example");
    assert.equal(read.length, 3, limit);
  }
});

Deno.test("without a client's address no number of refused mails shuts out those in whose name they come", async () => {
  await using world = await startWorld({
    inbox: { allow_receive: ["good.example"] },
    limits: { mailInboundPerInboxPerHour: 2, mailInboundPerClientPerHour: 2 },
  });
  const from = "a@good.example";
  for (let i = 0; i < 6; i++) {
    const forged = await world.deliver({ from, raw: mailFrom(from) });
    assertMailRefused(forged, "not_found", /blocked: 1/);
  }
  accepted(await world.deliver({ from, raw: signedBy(from) }), 200);
});

Deno.test("refused mail counts with its client, whichever inbox refuses it", async () => {
  await using world = await startWorld({
    inbox: { block_receive: ["bad.example"] },
    limits: { mailInboundPerClientPerHour: 3, mailStorageBytesPerOrg: 100_000 },
  });
  const { deliver, holder } = world;
  const open = await holder.inbox({ local_part: "grace" });
  const bad = { from: "x@bad.example", ...client("192.0.2.1") };
  const good = (i: number, ip: string) =>
    deliver({ to: [open.address], raw: `${mailFrom("a@good.example")}${i}`, ...client(ip) });
  assertMailRefused(await deliver({ ...bad }), "not_found", /blocked: 1/);
  accepted(await good(1, "192.0.2.1"), 200);
  assertMailRefused(await deliver({ ...bad }), "not_found", /blocked: 1/);
  // One of the three was stored; there is no fourth, whoever it is for. What is refused unread still is.
  assertMailRefused(await good(2, "192.0.2.1"), "unavailable");
  assertMailRefused(await deliver({ ...bad }), "not_found", /blocked: 1/);
  accepted(await good(3, "192.0.2.2"), 200);
  // No room counts as well, and unknown addresses do not.
  const large = (i: number) =>
    deliver({ raw: `${"x".repeat(200_000)}${i}`, to: [open.address], ...client("192.0.2.3") });
  for (let i = 0; i < 3; i++) assertMailRefused(await large(i), "unavailable");
  assertMailRefused(await good(4, "192.0.2.3"), "unavailable");
  for (let i = 0; i < 5; i++) {
    const to = [`nobody${i}@agents.test`];
    assertMailRefused(await deliver({ to, ...client("192.0.2.4") }), "not_found");
  }
  accepted(await good(5, "192.0.2.4"), 200);
});

Deno.test("a flood of mails with slow DNS keeps nobody else waiting, in its own org or another's", async () => {
  await using world = await startWorld();
  const { relay, zone, inbox, deliver } = world;
  zone.set("TXT slow.example", "silence");
  zone.set("TXT _dmarc.slow.example", "silence");
  const other = await newOrg(relay);
  const theirs = await other.inbox({ local_part: "grace" });
  const timestamp = Math.floor(Date.now() / 1000);
  let answered = 0;
  const flood = Array.from({ length: 100 }, async (_, i) => {
    const raw = mailFrom(`a${i}@slow.example`);
    const from = "x@slow.example";
    await handIn(relay.url, { to: [inbox.address], raw, from, timestamp, ...client("192.0.2.66") });
    answered++;
  });
  while (world.asked.length < 20) await new Promise((resolve) => setTimeout(resolve, 10));
  const innocent = { from: "a@good.example", ...client("192.0.2.1"), timestamp };
  const raw = signedBy("a@good.example");
  accepted(await handIn(relay.url, { ...innocent, to: [theirs.address], raw }), 200);
  assert.ok(answered < 5, `${answered} of the flood were answered first`);
  accepted(await deliver({ ...innocent, raw }), 200);
  assert.ok(answered < 5, `${answered} of the flood were answered first`);
  const found = accepted(await other.ask("GET", `/v1/mail/inboxes/${theirs.id}/messages`), 200);
  assert.deepEqual(found.data.map(({ auth }: { auth: { verdict: string } }) => auth.verdict), [
    "pass",
  ]);
  const { data } = await world.list();
  assert.ok(data.some(({ auth }: { auth: { verdict: string } }) => auth.verdict === "pass"));
  zone.clear(); // what is left of the flood need not wait for silence
  await Promise.all(flood);
});
