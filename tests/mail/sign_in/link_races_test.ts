/** Each link works once: in parallel, over two relays on one store, after a restart, and over real SMTP. */
import assert from "node:assert/strict";
import { parseConfig } from "../../../server/base/config/config.ts";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import {
  askForLink,
  CLAIM_CONFIRM,
  claimLink,
  follow,
  linkMails,
  magicLink,
  PROGRAM,
} from "../../support/mail_links.ts";
import { startMailPair } from "../../support/mail_pair.ts";
import { askMail, type MailAnswer, registerOrg, startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming, startMailStore } from "../../support/mail_store.ts";
import { makeStoreFolder, startTestRelay, type TestRelay } from "../../support/relay.ts";
import { parseMail, startSmtpServer } from "../../support/smtp_server.ts";

const EMAIL = "owner@example.org";

/** Follows a link 20 times at once, by GET and POST, at all relays in turn. */
function followAtOnce(relays: readonly TestRelay[], path: string): Promise<MailAnswer[]> {
  const [route, query] = path.split("?") as [string, string];
  const token = new URLSearchParams(query).get("token");
  return Promise.all(Array.from({ length: 20 }, (_, i) => {
    const { url } = relays[i % relays.length]!;
    return i % 4 < 2
      ? askMail(url, "GET", path, { headers: PROGRAM })
      : askMail(url, "POST", route, { body: { token } });
  }));
}

function assertOneWon(answers: readonly MailAnswer[]): MailAnswer {
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1, JSON.stringify(answers.map(({ status }) => status)));
  for (const answer of answers) {
    if (answer.status !== 200) assertMailRefused(answer, "link_expired");
  }
  return won[0]!;
}

/** The newest mail, whichever relay sent it. */
async function newestOf(relays: readonly TestRelay[], email: string) {
  const all = [];
  for (const relay of new Set(relays)) all.push(...await linkMails(relay, email));
  // Ids of links sort by their time.
  const [newest] = all.toSorted((a, b) => a.token < b.token ? 1 : -1);
  return newest!;
}

for (const alone of [true, false]) {
  const where = alone ? "one relay" : "two relays on one store";
  Deno.test(`of 20 that follow a link at once exactly one wins, at ${where}`, async () => {
    await using pair = await startMailPair({ alone, limits: { mailClaimsPerOrgPerHour: 50 } });
    const { relays, clock } = pair;
    const [first] = relays;
    const keys = new Set<string>();
    for (let round = 0; round < 3; round++) {
      clock.advance(3_600_000);
      accepted(await askForLink(relays[round % 2]!, EMAIL), 202);
      const { path } = await newestOf(relays, EMAIL);
      const { body } = assertOneWon(await followAtOnce(relays, path));
      keys.add(body.api_key);
      const list = await askMail(first.url, "GET", "/v1/mail/api-keys", { key: body.api_key });
      assert.equal(accepted(list, 200).data.length, round + 1, "one key a link, one org");
    }
    assert.equal(keys.size, 3);

    const holder = await newOrg(first);
    for (const email of ["one@example.org", "two@example.org"]) {
      clock.advance(1_000);
      accepted(await holder.ask("POST", "/v1/mail/org/claim", { body: { email } }), 202);
      const { path } = await newestOf(relays, email);
      const { body } = assertOneWon(await followAtOnce(relays, path));
      assert.equal(body.verified_email, email);
    }
    const restore = await newestOf(relays, "one@example.org");
    assert.match(restore.subject, /changed its owner/);
    assertOneWon(await followAtOnce(relays, restore.path));
    assert.equal(accepted(await holder.readOrg(), 200).verified_email, "one@example.org");
  });

  Deno.test(`two links to a new address followed at once make one org, at ${where}`, async () => {
    await using pair = await startMailPair({ alone });
    const { relays } = pair;
    for (let i = 0; i < 3; i++) accepted(await askForLink(relays[i % 2]!, EMAIL), 202);
    const mails = [];
    for (const relay of new Set(relays)) mails.push(...await linkMails(relay, EMAIL));
    assert.equal(mails.length, 3);
    const answers = await Promise.all(
      mails.map((mail, i) => follow(relays[i % 2]!, mail)),
    );
    assert.equal(new Set(answers.map((answer) => accepted(answer, 200).org_id)).size, 1);
    assert.equal(new Set(answers.map(({ body }) => body.api_key)).size, 3);
  });

  Deno.test(`confirming and cancelling a claim at once: one of the two holds, at ${where}`, async () => {
    const limits = { mailClaimsPerOrgPerHour: 50, mailMagicPerEmailPerHour: 50 };
    await using pair = await startMailPair({ alone, limits });
    const { relays, clock } = pair;
    for (let round = 0; round < 5; round++) {
      const holder = await newOrg(relays[0]);
      clock.advance(1_000);
      accepted(await holder.ask("POST", "/v1/mail/org/claim", { body: { email: EMAIL } }), 202);
      const { token } = await newestOf(relays, EMAIL);
      const [confirmed, cancelled] = await Promise.all([
        askMail(relays[0].url, "POST", CLAIM_CONFIRM, { body: { token } }),
        askMail(relays[1].url, "POST", CLAIM_CONFIRM, { body: { token, action: "cancel" } }),
      ]);
      assertOneWon([confirmed, cancelled]);
      const org = accepted(await holder.readOrg(), 200);
      assert.deepEqual([org.trial, org.pending_claim], [confirmed.status !== 200, null]);
    }
  });
}

Deno.test("a link stays usable once, and used, over a restart", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const start = () => startMailRelay({ kvPath, config: { dataDir: dir } });
  try {
    let used = "";
    let kept = "";
    {
      await using relay = await start();
      const mail = await magicLink(relay, EMAIL);
      accepted(await follow(relay, mail), 200);
      used = mail.path;
      kept = (await magicLink(relay, EMAIL)).path;
    }
    await using relay = await start();
    assertMailRefused(await askMail(relay.url, "GET", used), "link_expired");
    accepted(await askMail(relay.url, "GET", kept), 200);
    assertMailRefused(await askMail(relay.url, "GET", kept), "link_expired");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("the store and the log never have a token, and know the address no longer than the link", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const holder = await newOrg(relay);
  const [magic, claim] = [
    await magicLink(relay, "magic@example.org"),
    await claimLink(relay, holder.key, "claim@example.org"),
  ];
  for (const { token } of [magic, claim]) {
    assert.deepEqual(await rowsNaming(kv, token.split(".")[1]!), []);
    assert.doesNotMatch(JSON.stringify(relay.logged), RegExp(token.split(".")[1]!));
  }
  assert.doesNotMatch(JSON.stringify(relay.logged), /@example/);
  assert.ok((await rowsNaming(kv, "claim@example.org")).length > 0);
  const body = { token: claim.token, action: "cancel" };
  accepted(await askMail(relay.url, "POST", CLAIM_CONFIRM, { body }), 200);
  assert.deepEqual(await rowsNaming(kv, "claim@example.org"), []);
  const signedIn = accepted(await follow(relay, magic), 200);
  accepted(
    await holder.with(signedIn.api_key).ask("DELETE", "/v1/mail/org", {
      body: { org_id: signedIn.org_id },
    }),
    204,
  );
  await relay.relay.crons.figures!();
  const left = await rowsNaming(kv, "magic@example.org");
  assert.equal(left.length, 1, left.join("\n"));
  assert.match(left[0]!, /"mail-email"/, "the mark of the address, which expires in two hours");
});

Deno.test("over real SMTP: from the relay's own address, text and HTML part, one mail a link", async () => {
  await using smtp = await startSmtpServer();
  const { mail } = parseConfig({
    RELAY_SMTP_URL: smtp.url,
    RELAY_MAIL_FROM: "Relay <relay@example.org>",
    RELAY_MAIL_DOMAIN: "mail.example.org",
  });
  const mailer = createSmtpMailer({ smtp: mail.smtp!, ehloName: "mail.example.org" });
  await using relay = await startTestRelay({ config: { mail }, deps: { mailer } });
  const { apiKey } = await registerOrg(relay);
  const own = { body: { email: "bot@mail.example.org" }, key: apiKey };
  assertMailRefused(await askMail(relay.url, "POST", "/v1/mail/org/claim", own), "invalid_email");
  assertMailRefused(await askForLink(relay, "Bot@Mail.Example.org"), "invalid_email");

  for (
    const [path, key, subject] of [
      ["/v1/mail/org/magic", undefined, /^Sign in to 127/],
      ["/v1/mail/org/claim", apiKey, /^Confirm a mail org at 127/],
    ] as const
  ) {
    const arrived = smtp.next();
    const asked = await askMail(relay.url, "POST", path, {
      body: { email: "person@example.net" },
      ...(key === undefined ? {} : { key }),
    });
    accepted(asked, 202);
    const received = await arrived;
    assert.deepEqual([received.from, received.to], ["relay@example.org", ["person@example.net"]]);
    const content = new TextDecoder().decode(received.content);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(content, /[^\x00-\x7f]|^Bcc/m);
    const read = await parseMail(received);
    assert.match(read.subject!, subject);
    assert.deepEqual([read.from?.name, read.from?.address], ["Relay", "relay@example.org"]);
    assert.match(content, /^Auto-Submitted: auto-generated\r$/m);
    const [link] = /http:\/\/127\.0\.0\.1:\d+\/v1\/\S+\?token=\S+/.exec(read.text!)!;
    assert.ok(read.html!.includes(`<a href="${link}">`));
    await relay.relay.crons.outgoing!();
    accepted(await askMail(relay.url, "GET", link.slice(relay.url.length)), 200);
  }
  assert.equal(smtp.received.length, 2);
});

Deno.test("a next hop that refuses is asked again for as long as the link works", async () => {
  await using smtp = await startSmtpServer();
  const { mail } = parseConfig({
    RELAY_SMTP_URL: smtp.url,
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
  });
  const mailer = createSmtpMailer({ smtp: mail.smtp!, ehloName: "mail.example.org" });
  await using relay = await startTestRelay({ config: { mail }, deps: { mailer } });
  smtp.refuse({ at: "recipient", code: 451 });
  accepted(await askForLink(relay, EMAIL), 202);
  await relay.relay.crons.outgoing!();
  const { apiKey } = await registerOrg(relay);
  const claimed = await askMail(relay.url, "POST", "/v1/mail/org/claim", {
    key: apiKey,
    body: { email: "first@example.org" },
  });
  accepted(claimed, 202);
  await relay.relay.crons.outgoing!();
  assert.equal(smtp.transactions(), 2);
  const later = { key: apiKey, body: { email: "second@example.org" } };
  accepted(await askMail(relay.url, "POST", "/v1/mail/org/claim", later), 202);
  await relay.relay.crons.outgoing!();
  smtp.refuse(null);
  relay.clock.advance(60_000);
  await relay.relay.crons.outgoing!();
  assert.deepEqual(smtp.received.flatMap(({ to }) => to).toSorted(), [
    EMAIL,
    "second@example.org",
  ], "the claim that was replaced is told to nobody");
  smtp.refuse({ at: "recipient", code: 451 });
  accepted(await askForLink(relay, "late@example.org"), 202);
  await relay.relay.crons.outgoing!();
  smtp.refuse(null);
  relay.clock.advance(3_600_000);
  await relay.relay.crons.outgoing!();
  assert.equal(smtp.received.length, 2, "a link that does nothing any more is not sent");
  smtp.refuse({ at: "recipient", code: 550 });
  accepted(await askForLink(relay, "none@example.org"), 202);
  for (let i = 0; i < 5; i++) {
    await relay.relay.crons.outgoing!();
    relay.clock.advance(60_000);
  }
  const given = relay.logged.filter(({ event }) => event === "outgoing_given_up");
  assert.deepEqual(given.map(({ fields }) => fields.reason), ["refused: 550 at RCPT TO"]);
});
