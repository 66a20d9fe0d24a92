/** Hostile mail over HTTP: all of it is stored as it came, and messages between agents go on meanwhile. */
import assert from "node:assert/strict";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted } from "../../support/mail_caller.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { HOSTILE_MAILS, LARGEST } from "./mime/hostile_mails.ts";

Deno.test("hostile mail is accepted and stored whole while agents send", async () => {
  await using rig = await startInboundRig({
    limits: { mailInboundBytesPerInboxPerHour: 2 ** 40, sendsPerAgentPerMinute: 100_000 },
  });
  const [sender, recipient] = await registerAgents(rig.relay, "sender", "recipient");
  let isOver = false;
  let sent = 0;
  const sending = (async () => {
    while (!isOver) {
      const answer = await sender.send({ to: recipient.address, body: `message ${sent}` });
      assert.equal(answer.status, 201, answer.text);
      sent++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    const names = Object.keys(HOSTILE_MAILS).slice(0, 4);
    assert.equal(names.length, 4);
    for (const name of names) {
      const raw = HOSTILE_MAILS[name]!().subarray(0, LARGEST);
      const before = sent;
      accepted(await rig.deliver({ raw }), 200);
      assert.ok(sent > before, `nothing was sent beside ${name}`);
      const { data: [row] } = await rig.list("?limit=1");
      assert.equal(row.size, raw.length, name);
      const whole = await rig.get(`/v1/mail/messages/${row.id}`);
      assert.equal(whole.id, row.id);
    }
  } finally {
    isOver = true;
    await sending;
  }
});
