/** A relay as `deno task start` makes it: its permissions are enough to check who sent a mail. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { dkimSigned, makeDkimKey } from "../../support/dkim_mail.ts";
import { startScriptedDns } from "../../support/dns_server.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { spawnRelay } from "../../support/spawn_relay.ts";

const MAIL = {
  RELAY_SMTP_URL: "smtp://127.0.0.1:9",
  RELAY_MAIL_FROM: "relay@relay.example",
  RELAY_MAIL_DOMAIN: "agents.example",
  RELAY_MAIL_INBOUND_SECRET: Buffer.from(TEST_INBOUND_SECRET).toString("base64"),
};

Deno.test("a relay with the permissions of deno task start tells who sent a mail", async () => {
  const key = makeDkimKey();
  await using dns = startScriptedDns({
    "TXT s1._domainkey.else.test": { TXT: [key.record] },
    "TXT _dmarc.else.test": { TXT: ["v=DMARC1; p=reject"] },
    "TXT else.test": { TXT: ["v=spf1 ip4:192.0.2.1 -all"] },
  });
  const server = `127.0.0.1:${dns.server.port}`;
  await using relay = await spawnRelay({ env: { ...MAIL, RELAY_DNS_SERVERS: server } });
  assert.match(relay.output().stdout, new RegExp(`senders +checked by DNS of ${server}\n`));
  const registered = await askMail(relay.url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(Date.now()),
  });
  const { org_id, api_key } = accepted(registered, 201);
  const holder = new MailKeyHolder(relay.url, api_key, org_id);
  const inbox = await holder.inbox({ local_part: "bot" });
  const timestamp = Math.floor(Date.now() / 1000);
  const envelope = { client_ip: "192.0.2.1", client_helo: "mx.else.test" };
  const raw = await dkimSigned(mailText(), "else.test", "s1", key);
  const forged = mailText({ headers: { From: "bank@else.test" } });
  for (const [mail, client_ip] of [[raw, "192.0.2.1"], [forged, "203.0.113.9"]] as const) {
    const to = [inbox.address];
    const answer = await handIn(relay.url, {
      to,
      raw: mail,
      timestamp,
      envelope: { ...envelope, client_ip },
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
  const list = await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages?order=asc`);
  // deno-lint-ignore no-explicit-any -- shapes as the API gives them
  const found = accepted(list, 200).data.map(({ auth }: any) => auth);
  assert.deepEqual(found, [
    {
      spf: "pass",
      dkim: "pass",
      dmarc: "pass",
      arc: "none",
      from_domain: "else.test",
      verdict: "pass",
    },
    {
      spf: "fail",
      dkim: "none",
      dmarc: "fail",
      arc: "none",
      from_domain: "else.test",
      verdict: "fail",
    },
  ]);
  assert.ok(dns.ways.includes("udp"), "the flags let answers over UDP in");
  assert.equal((await relay.terminate()).code, 0);
  assert.doesNotMatch(relay.output().stderr, /failed|lost|NotCapable/);
});

Deno.test("start-up says whose DNS is asked where RELAY_DNS_SERVERS is unset, or that nobody's is", async () => {
  await using relay = await spawnRelay({ env: MAIL });
  assert.match(
    relay.output().stdout,
    /senders +(?:checked by DNS of .* \(the system's\)|not checked .* set RELAY_DNS_SERVERS)\n/,
  );
});
