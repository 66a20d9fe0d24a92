/** A mail that one relay signs and sends comes in at another one, by SMTP and its own DNS, as what it is. */
import assert from "node:assert/strict";
import { parseConfig } from "../../../server/base/config/config.ts";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { dkimRecordName } from "../../../toolkit/mail/dkim_record.ts";
import { dkimRecord } from "../../../toolkit/node/dkim_key.ts";
import { startScriptedDns } from "../../support/dns_server.ts";
import { newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startMailStore, verifyOrg } from "../../support/mail_store.ts";
import { dkimKey } from "../../support/outgoing_mail.ts";
import { deliver, listMessages, readMessage, send } from "../../support/sending_org.ts";
import { smtpPortOf } from "../../support/smtp_client.ts";

const DOMAIN = "sender.example";

Deno.test("a relay's signed mail comes in at another relay by SMTP: dkim, dmarc and verdict pass", async () => {
  const key = { ...dkimKey(), domain: DOMAIN };
  await using dns = startScriptedDns({
    [`TXT ${dkimRecordName(key)}`]: { TXT: [dkimRecord(key.privateKeyPem)] },
    [`TXT _dmarc.${DOMAIN}`]: { TXT: ["v=DMARC1; p=reject"] },
    [`TXT ${DOMAIN}`]: { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
  });
  const { mail } = parseConfig({ RELAY_MAIL_DEV: "true" });
  await using theirs = await startMailRelay({
    clockStartMs: "real",
    config: {
      mail: {
        ...mail,
        local: false,
        smtp: { host: "127.0.0.1", port: 9, secure: false },
        listen: { host: "127.0.0.1", port: 0 },
        dnsServers: [dns.server],
      },
    },
    deps: { now: Date.now },
  });
  const reader = await newOrg(theirs);
  const inbox = await reader.inbox({ local_part: "ada" });
  const mailer = createSmtpMailer({
    smtp: { host: "127.0.0.1", port: smtpPortOf(theirs), secure: false },
    ehloName: DOMAIN,
  });
  try {
    await using store = await startMailStore({
      clockStartMs: "real",
      config: { mail: { ...mail, domain: DOMAIN, dkim: key } },
      deps: { mailer },
    });
    const owner = await newOrg(store.relay);
    await verifyOrg(store.kv, owner.orgId, Date.now() - 2 * 86_400_000);
    const own = await owner.inbox({ local_part: "bob" });
    const text = "Grüße\n.\n..\nFrom here\n";
    const sent = await send(owner, own, { to: inbox.address, subject: "Hällo", text });
    assert.equal(sent.status, 202, JSON.stringify(sent.body));
    await deliver(store.relay);
    const [told] = (await readMessage(owner, sent.body.id)).recipients;
    assert.deepEqual([told.status, told.smtp_code], ["sent", 250], JSON.stringify(told));
    const [row, ...others] = await listMessages(reader, inbox);
    assert.equal(others.length, 0);
    assert.deepEqual(row.auth, {
      ...{ spf: "pass", dkim: "pass", dmarc: "pass", arc: "none" },
      ...{ from_domain: DOMAIN, verdict: "pass" },
    });
    assert.equal((await readMessage(reader, row.id)).text, text);
    const raw = async (holder: typeof owner, id: string): Promise<string> =>
      (await holder.ask("GET", `/v1/mail/messages/${id}/raw`)).body;
    assert.ok((await raw(reader, row.id)).endsWith(await raw(owner, sent.body.id)));
    assert.match(row.envelope.from, new RegExp(`^bounce\\+.*@${DOMAIN}$`));
  } finally {
    await mailer.close();
  }
});
