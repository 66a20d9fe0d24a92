/** A process that is killed between the commit that raises an event and all that follows of it. */
import assert from "node:assert/strict";
import {
  indexKeyOf,
  outgoingKey,
  type OutgoingRow,
} from "../../../server/base/outgoing/outgoing_row.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { delay } from "../../support/pace.ts";
import { putWebhooks, storedEvents, webhookFilter } from "../../support/raised_events.ts";
import { startRelayProcesses } from "../../support/relay_processes.ts";

const SECRET = new Uint8Array(32).fill(9);

Deno.test("two processes: what one has committed when it is killed is told once, by the other", async () => {
  await using processes = await startRelayProcesses(1, {
    env: {
      RELAY_MAIL_DEV: "true",
      RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
    },
  });
  const [other] = processes.relays;
  const registered = await askMail(other!.url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(Date.now()),
  });
  const { api_key, org_id } = accepted(registered, 201);
  const inbox = await new MailKeyHolder(other!.url, api_key, org_id).inbox({});
  await processes.withKv((kv) => putWebhooks(kv, org_id, webhookFilter()));

  const { relay: killed } = await processes.add({
    entry: "relay_halting.ts",
    env: { TEST_HALT_AT: "committed", TEST_HALT_MAIL: "1" },
  });
  const raw = mailText();
  const deliver = ({ url }: { url: string }) =>
    handIn(url, {
      to: [inbox.address],
      raw,
      timestamp: Math.floor(Date.now() / 1000),
      secret: SECRET,
    });
  const lost = assert.rejects(deliver(killed), TypeError);
  while (!killed.output().stdout.includes("halted at: committed")) await delay(10);
  await killed.kill("SIGKILL");
  await lost;
  accepted(await deliver(other!), 200); // the sender tries again: it is a repetition

  await processes.withKv(async (kv) => {
    const [event, ...others] = await storedEvents(kv);
    assert.deepEqual(others, []);
    const { key, row } = event!;
    assert.equal(row.type, "message.received");
    const id = String(key.at(-1));
    const { value: queued } = await kv.get<OutgoingRow>(outgoingKey(id));
    // Whoever delivers has it by now, or finds it.
    assert.ok(row.body !== null || queued !== null);
    if (queued === null) return;
    assert.notEqual((await kv.get(indexKeyOf(id, queued))).versionstamp, null);
  });
});
