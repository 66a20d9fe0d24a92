/** A validly signed mail with fields added on its way: what is believed of it, and who is answered. */
import assert from "node:assert/strict";
import { makeDkimKey, signedNaming } from "../../support/dkim_mail.ts";
import { startScriptedDns } from "../../support/dns_server.ts";
import { mailText } from "../../support/inbound_mail.ts";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { mailDone } from "../../support/mail_tools.ts";

const KEY = makeDkimKey();
const NAMES = ["from", "to", "subject", "date", "message-id"];
const ALICE = "alice@good.example";
const THIEF = "thief@evil.example";

async function withChecks(work: (rig: InboundRig) => Promise<void>): Promise<void> {
  await using dns = startScriptedDns({
    "TXT s1._domainkey.good.example": { TXT: [KEY.record] },
    "TXT s1._domainkey.evil.example": { TXT: [KEY.record] },
    "TXT _dmarc.good.example": { TXT: ["v=DMARC1; p=reject"] },
  });
  await using rig = await startInboundRig({ dns: dns.server });
  await work(rig);
}

const signed = (headers: Record<string, string> = {}, names: readonly string[] = NAMES) =>
  signedNaming(mailText({ headers: { From: ALICE, ...headers } }), names, {
    domain: "good.example",
    key: KEY,
  });

// deno-lint-ignore no-explicit-any -- shapes as the API gives them
async function stored(rig: InboundRig, raw: string): Promise<any> {
  accepted(await rig.deliver({ raw, from: "x@evil.example" }), 200);
  const { data: [row] } = await rig.list("?limit=1");
  return await rig.get(`/v1/mail/messages/${row.id}`);
}

/** Whom an answer goes to, by REST and by the tool. */
async function answered(rig: InboundRig, id: string): Promise<string[][]> {
  const body = { text: "Yes." };
  const reply = await rig.holder.ask("POST", `/v1/mail/messages/${id}/reply`, { body });
  const tool = await mailDone(rig.holder, "reply_to_message", { message_id: id, text: "Yes." });
  // deno-lint-ignore no-explicit-any -- shapes as the API gives them
  const messages: any[] = [accepted(reply, 202), tool.structured!["message"]];
  return messages.map(({ to }) => to.map(({ address }: { address: string }) => address));
}

Deno.test("another Subject, Reply-To and Content-Type before a signed mail are no signed mail", async () => {
  await withChecks(async (rig) => {
    const added = "Subject: Pay now\r\n" + `Reply-To: ${THIEF}\r\n` +
      "Content-Type: multipart/mixed; boundary=nope\r\n";
    const forged = await stored(rig, added + signed());
    assert.equal(forged.subject, "Pay now");
    assert.deepEqual([forged.auth.dkim, forged.auth.verdict], ["fail", "fail"]);
    assert.equal((await stored(rig, signed())).auth.verdict, "pass");
  });
});

Deno.test("an answer goes to From where a Reply-To to strangers was signed by nobody who stands for From", async () => {
  await withChecks(async (rig) => {
    const replyTo = { "Reply-To": THIEF };
    const byThief = { domain: "evil.example", key: KEY };
    const unsigned = [
      `Reply-To: ${THIEF}\r\n${signed()}`,
      signed(replyTo),
      signedNaming(signed(replyTo), ["from", "reply-to"], byThief),
    ];
    for (const raw of unsigned) {
      const message = await stored(rig, raw);
      assert.equal(message.auth.verdict, "pass");
      assert.deepEqual(message.parse_warnings, ["reply_to_unsigned"]);
      assert.deepEqual(message.reply_to.map(({ address }: { address: string }) => address), [
        THIEF,
      ]);
      assert.deepEqual(await answered(rig, message.id), [[ALICE], [ALICE]]);
      const read = await mailDone(rig.holder, "read_thread", { thread_id: message.thread_id });
      assert.match(read.text, /Reply-To .* nobody .* From/);
    }
    const believed = [
      [signed(replyTo, [...NAMES, "reply-to"]), THIEF],
      [signed({ "Reply-To": "desk@help.good.example" }), "desk@help.good.example"],
    ] as const;
    for (const [raw, address] of believed) {
      const message = await stored(rig, raw);
      assert.deepEqual(message.parse_warnings, []);
      assert.deepEqual(await answered(rig, message.id), [[address], [address]]);
    }
  });
});

Deno.test("an inbox never answers itself: a Reply-To that names it leads to From", async () => {
  await withChecks(async (rig) => {
    for (const address of ["ada@agents.test", "ADA+x@Agents.Test"]) {
      const message = await stored(rig, signed({ "Reply-To": address }, [...NAMES, "reply-to"]));
      assert.deepEqual(await answered(rig, message.id), [[ALICE], [ALICE]]);
    }
    const self = { From: "ada@agents.test", To: "Ada <ada+y@agents.test>" };
    const own = await stored(rig, mailText({ headers: self }));
    for (const reply_all of [false, true]) {
      const body = { text: "Yes.", reply_all };
      const reply = await rig.holder.ask("POST", `/v1/mail/messages/${own.id}/reply`, { body });
      assertMailRefused(reply, "invalid_email", /own/);
    }
  });
});
