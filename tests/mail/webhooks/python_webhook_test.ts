/** The Python library of Standard Webhooks verifies what a relay delivers, rotated secrets too. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { delay } from "../../support/pace.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import { spawnRelay } from "../../support/spawn_relay.ts";
import { startReceiver } from "../../support/webhook_world.ts";

const SECRET = new Uint8Array(32).fill(9);
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

await pythonOrSkip(
  pathOf("verify_webhook_requirements.txt"),
  ["standardwebhooks"],
  "standardwebhooks for Python verifies deliveries, by a rotated secret and the one before it",
  async (run) => {
    await using receiver = startReceiver({ now: Date.now });
    await using relay = await spawnRelay({
      env: { RELAY_MAIL_DEV: "true", RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}` },
    });
    const body = signRegistration(Date.now());
    const registered = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
    const { api_key, org_id } = accepted(registered, 201);
    const owner = new MailKeyHolder(relay.url, api_key, org_id);
    const inbox = await owner.inbox();
    const asked = { body: { url: `${receiver.url}/hook` } };
    const { id, secret } = accepted(await owner.ask("POST", "/v1/mail/webhooks", asked), 201);
    const delivered = async (count: number) => {
      while (receiver.taken.length < count) await delay(5);
      return receiver.taken[count - 1]!;
    };
    const raw = mailText({ headers: { Subject: "=?utf-8?Q?Gr=C3=BC=C3=9Fe?=" } });
    const timestamp = Math.floor(Date.now() / 1000);
    const mail = { to: [inbox.address], raw, timestamp, secret: SECRET };
    accepted(await handIn(relay.url, mail), 200);
    const first = await delivered(1);
    const rotated = await owner.ask("POST", `/v1/mail/webhooks/${id}/rotate`);
    const { secret: next } = accepted(rotated, 200);
    accepted(await owner.ask("POST", `/v1/mail/webhooks/${id}/test`), 202);
    const second = await delivered(2);

    const lines = [
      { ...first, secret },
      { ...second, secret },
      { ...second, secret: next },
      { ...first, secret: next },
      { ...second, text: `${second.text} `, secret },
    ].map(({ text, headers, secret }) =>
      JSON.stringify({ text, headers, secret: secret.replace("rmwh_", "") })
    );
    const file = `${relay.dataDir}/deliveries.jsonl`;
    await Deno.writeTextFile(file, lines.join("\n"));
    const { stdout, stderr } = await run([pathOf("verify_webhook_program.py"), file]);
    const told = stdout.trim().split("\n").map((line) => JSON.parse(line || "null"));
    const refused = { refused: "No matching signature found" };
    const ids = [first.body.id, second.body.id];
    assert.deepEqual(told, [ids[0], ids[1], ids[1], refused, refused], stderr);
    assert.equal(first.body.data.message.subject, "Grüße");
  },
);
