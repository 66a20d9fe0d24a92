/** What may happen to a relay while mail comes by SMTP: it is stopped, its certificate is replaced. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { mailText } from "../support/inbound_mail.ts";
import { partOrSkip } from "../support/part.ts";
import { openSmtpClient, type RawSmtp } from "../support/smtp_client.ts";
import { newOrgAt, spawnSmtpRelay, storedRaws, withoutTrace } from "../support/smtp_world.ts";

const ADA = "ada@agents.test";
/** 5 s are promised of a machine that has time. */
const MAX_STOP_MS = 10_000;

Deno.test("a relay stopped with 20 sessions open ends in time, and stores the mail whose end has come", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-smtp-endings-" });
  const raw = mailText({ text: "The last one.\r\n" });
  try {
    await using relay = await spawnSmtpRelay({
      entry: "relay_halting.ts",
      env: { RELAY_DATA_DIR: dataDir, TEST_HALT_AT: "before commit", TEST_HALT_MAIL: "1" },
    });
    const holder = await newOrgAt(relay);
    await holder.inbox({ local_part: "ada" });
    const others: RawSmtp[] = [];
    const begun = [[], ["EHLO c.test"], ["EHLO c.test", "MAIL FROM:<a@else.test>"]];
    for (let i = 0; i < 19; i++) {
      const client = openSmtpClient(relay.smtpPort);
      await client.reply();
      for (const line of begun[i % 4] ?? []) await client.ask(line);
      if (i % 4 === 3) {
        await client.begin(ADA);
        client.send("Subject: half\r\n");
      }
      others.push(client);
    }
    using last = openSmtpClient(relay.smtpPort);
    await last.reply();
    await last.begin(ADA);
    last.send(`${raw}.\r\n`);
    await relay.wrote(/^halted at: before commit$/m);
    const beganMs = performance.now();
    const ended = relay.terminate();
    await Deno.writeTextFile(join(dataDir, "go"), "");
    assert.match(await last.reply(), /^250 2\.0\.0 taken as /);
    for (const client of others) assert.match(await client.rest(), /^421 4\.3\.2 /);
    assert.equal((await ended).code, 0);
    assert.ok(performance.now() - beganMs < MAX_STOP_MS);
    await using next = await spawnSmtpRelay({ env: { RELAY_DATA_DIR: dataDir } });
    assert.deepEqual((await storedRaws(holder.at(next), ADA)).map(withoutTrace), [raw]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

/** The serial number of the certificate that a handshake shows. */
async function serialAt(port: number): Promise<string> {
  using client = openSmtpClient(port);
  await client.reply();
  await client.ask("EHLO c.test");
  await client.ask("STARTTLS");
  return await client.startTls();
}

partOrSkip(
  "openssl",
  "certificates are replaced while mail comes: none is refused, and the new one is shown",
  async (openssl) => {
    const folder = await Deno.makeTempDir({ prefix: "relay-smtp-certificates-" });
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const renew = async (serial: number) => {
      const made = await new Deno.Command(openssl, {
        args: [
          ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
          ...["-days", "2", "-subj", "/CN=agents.test", "-set_serial", String(serial)],
          ...["-out", `${cert}.new`, "-keyout", `${key}.new`],
        ],
      }).output();
      assert.ok(made.success, new TextDecoder().decode(made.stderr));
      await Deno.rename(`${cert}.new`, cert);
      await Deno.rename(`${key}.new`, key);
    };
    try {
      await renew(1);
      await using relay = await spawnSmtpRelay({
        env: { RELAY_MAIL_TLS_CERT: cert, RELAY_MAIL_TLS_KEY: key },
      });
      const holder = await newOrgAt(relay);
      await holder.inbox({ local_part: "ada" });
      const sent: string[] = [];
      let isOver = false;
      const lane = async () => {
        while (!isOver) {
          const transport = createTransport({
            ...{ host: "127.0.0.1", port: relay.smtpPort, requireTLS: true },
            tls: { rejectUnauthorized: false },
          });
          const raw = mailText({ text: `mail ${sent.length}\r\n` });
          await transport.sendMail({ envelope: { from: "a@else.test", to: ADA }, raw });
          transport.close();
          sent.push(raw);
        }
      };
      const lanes = [lane(), lane()];
      for (const one of lanes) one.catch(() => {}); // what went wrong first is told
      for (let serial = 2; serial <= 5; serial++) {
        const before = sent.length;
        await renew(serial);
        assert.equal(await serialAt(relay.smtpPort), String(serial));
        while (sent.length < before + 3) {
          await Promise.race([
            ...lanes,
            new Promise((resolve) => setTimeout(resolve, 5)),
          ]);
        }
      }
      isOver = true;
      await Promise.all(lanes);
      const stored = await storedRaws(holder, ADA);
      assert.deepEqual(stored.map(withoutTrace).toSorted(), sent.toSorted());
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
