/** The SMTP server of a relay in a process of its own, under the printed permissions. */
import assert from "node:assert/strict";
import { mailText } from "../support/inbound_mail.ts";
import { newOrg } from "../support/mail_caller.ts";
import { openSmtpClient, type RawSmtp, sendBySmtp, smtpPortOf } from "../support/smtp_client.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";
import type { TestRelay } from "../support/relay.ts";

const ENV = {
  RELAY_MAIL_DEV: "true",
  RELAY_LIMITS: JSON.stringify({ mailMinFreeDiskBytes: 0 }),
};

async function portOf(relay: SpawnedRelay): Promise<number> {
  await relay.wrote(/mail in/);
  return smtpPortOf({ relay: { startupNotes: () => relay.output().stdout.split("\n") } });
}

async function addressOf({ url }: SpawnedRelay): Promise<string> {
  const holder = await newOrg({ url, clock: { now: Date.now } } as TestRelay);
  return (await holder.inbox({ local_part: "ada" })).address;
}

Deno.test("a relay that takes mail by SMTP exits 0 on SIGTERM, with sessions that wait and one that is half sent", async () => {
  await using relay = await spawnRelay({ env: ENV });
  const port = await portOf(relay);
  const to = await addressOf(relay);
  assert.match(await sendBySmtp(port, { to: [to], raw: mailText() }), /^250 2\.0\.0 taken/);
  using idle = openSmtpClient(port);
  await idle.reply();
  using half = openSmtpClient(port);
  await half.reply();
  await half.begin(to);
  half.send("Subject: half\r\n");
  const ended = relay.terminate();
  for (const client of [idle, half]) assert.match(await client.rest(), /^421 4\.3\.2 /);
  assert.equal((await ended).code, 0);
  assert.match(relay.output().stderr, /"event":"stopped","clean":true/);
});

Deno.test("a relay takes mail by SMTP again after more connections than it may have files open", async () => {
  await using relay = await spawnRelay({ env: ENV, openFiles: 150 });
  const port = await portOf(relay);
  const to = await addressOf(relay);
  const clients: RawSmtp[] = [];
  for (let i = 0; i < 300; i++) clients.push(openSmtpClient(port));
  await relay.wrote(/"event":"smtp_failed".*Too many open files/);
  for (const client of clients) client[Symbol.dispose]();
  assert.match(await sendBySmtp(port, { to: [to], raw: mailText() }), /^250 2\.0\.0 taken/);
});
