/** Local mode hands mail in: by programs, by the page's forms, and as answers to what was captured. */
import assert from "node:assert/strict";
import { createBodyReader } from "../../server/http/body.ts";
import { CapturedMails } from "../../server/local/captured_mails.ts";
import { createCaptureMailer } from "../../server/local/capture_mailer.ts";
import type { HandIn } from "../../server/local/hand_in.ts";
import { localRoutes } from "../../server/local/routes.ts";
import { unavailable } from "../../server/errors.ts";
import { parseDsn } from "../../server/mail/delivery/dsn.ts";
import { type Answer, ask, assertRefused } from "../support/answer.ts";
import { startApp } from "../support/app_server.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { accepted, type MailKeyHolder, newOrg } from "../support/mail_caller.ts";
import { claimLink, follow } from "../support/mail_links.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import type { TestRelay } from "../support/relay.ts";

const MAIL = {
  from: "Ann@X.test",
  to: "bot@agents.test",
  subject: "Grüße",
  text: "Code: 482913\n",
};
const FORM = "application/x-www-form-urlencoded";
const NO_AUTH = { spf: "none", dkim: "none", dmarc: "none", verdict: "none" };

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(url, { method: "POST", headers, body: JSON.stringify(body) });
}

function postForm(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { "Content-Type": FORM, Accept: "text/html", Origin: new URL(url).origin },
    body: String(new URLSearchParams(fields)),
  });
}

// deno-lint-ignore no-explicit-any -- JSON whose shape the test at hand asserts
async function messagesOf(holder: MailKeyHolder, inboxId: string): Promise<any[]> {
  const path = `/v1/mail/inboxes/${inboxId}/messages?order=asc`;
  const { data } = accepted(await holder.ask("GET", path), 200);
  const whole = [];
  for (const { id } of data) {
    whole.push(accepted(await holder.ask("GET", `/v1/mail/messages/${id}`), 200));
  }
  return whole;
}

Deno.test("POST /dev/mail gives an inbox a mail from outside, in words of its own", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const inbox = await holder.inbox({ local_part: "bot" });
  const answer = await post(`${relay.url}/dev/mail`, { ...MAIL, to: "Bot+news@agents.test" });
  assert.deepEqual([answer.status, answer.json], [
    200,
    { accepted: ["Bot+news@agents.test"], rejected: [] },
  ]);
  const [message, ...others] = await messagesOf(holder, inbox.id);
  assert.deepEqual(others, []);
  assert.deepEqual(message.envelope, { from: "Ann@X.test", to: ["Bot+news@agents.test"] });
  assert.equal(message.from.address.toLowerCase(), "ann@x.test");
  assert.equal(message.subject, "Grüße");
  assert.equal(message.text.trimEnd(), "Code: 482913");
  assert.deepEqual(message.codes, [{ value: "482913", kind: "numeric" }]);
  assert.deepEqual(message.auth, { ...NO_AUTH, from_domain: "x.test" });
  assert.match(message.rfc_message_id, /^dev\.[0-9a-f]{32}@x\.test$/i);
  assert.equal(Date.parse(message.headers.date[0]), Math.floor(relay.clock.now() / 1000) * 1000);
  assert.deepEqual([message.automated, message.parse_warnings], ["none", []]);

  // The same again is another mail: only the same bytes are a repetition.
  accepted(await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}`), 200);
  assert.equal((await post(`${relay.url}/dev/mail`, MAIL)).status, 200);
  assert.equal((await post(`${relay.url}/dev/mail`, { ...MAIL, from: "" })).status, 200);
  const all = await messagesOf(holder, inbox.id);
  assert.equal(all.length, 3);
  assert.deepEqual([all[2].envelope.from, all[2].automated], ["", "bounce"]);
  assert.equal(all[2].from.address, "mailer-daemon@sender.test");
});

Deno.test("POST /dev/mail says why nobody took a mail", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const inbox = await holder.inbox({ local_part: "bot", block_receive: ["y.test"] });
  const send = (mail: Partial<typeof MAIL>) => post(`${relay.url}/dev/mail`, { ...MAIL, ...mail });
  for (const to of ["nobody@agents.test", "bot@elsewhere.test"]) {
    assertRefused(
      await send({ to }),
      "not_found",
      /no inbox of this name \(they are at agents\.test/,
    );
  }
  assertRefused(await send({ from: "a@y.test" }), "not_found", /lists of the inbox refuse/);
  assert.equal((await messagesOf(holder, inbox.id)).length, 0);
});

Deno.test("a full inbox has POST /dev/mail try again later", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  await holder.inbox({ local_part: "bot" });
  const statuses: number[] = [];
  for (let i = 0; i < 101; i++) {
    statuses.push((await post(`${relay.url}/dev/mail`, { ...MAIL, text: `${i}` })).status);
  }
  assert.deepEqual([...new Set(statuses.slice(0, 100))], [200]);
  assert.equal(statuses[100], 503);
  const refused = await post(`${relay.url}/dev/mail`, MAIL);
  assertRefused(refused, "unavailable", /1 of 1 recipients/);
  assert.ok(Number(refused.headers.get("retry-after")) > 3_000);
});

Deno.test("the page's form hands a mail in, leads back with a notice, and is refused to other pages", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const inbox = await holder.inbox({ local_part: "bot" });
  const url = `${relay.url}/dev/mail`;
  const done = await postForm(url, { ...MAIL, text: "a\r\nÄ &+\r\n" });
  assert.equal(await done.text(), "");
  assert.deepEqual([done.status, done.headers.get("location")], [
    303,
    "/dev/mail?notice=handed_in",
  ]);
  const [message] = await messagesOf(holder, inbox.id);
  assert.equal(message.text.trimEnd(), "a\nÄ &+");
  const page = await ask(`${relay.url}${done.headers.get("location")}`, {
    headers: { Accept: "text/html" },
  });
  assert.match(page.text, /class="notice success">The mail was handed in/);
  // Under no-referrer a browser would send `Origin: null` with the form.
  assert.equal(page.headers.get("referrer-policy"), "same-origin");
  for (const notice of ["", "x", "constructor", "<b>", "handed_in%00"]) {
    const other = await ask(`${url}?notice=${notice}`, { headers: { Accept: "text/html" } });
    assert.doesNotMatch(other.text, /class="notice/, notice);
  }

  const refused = await postForm(url, { ...MAIL, to: "nobody@agents.test" });
  assert.equal(refused.status, 404);
  assert.match(await refused.text(), /<!doctype html>[^]*no inbox of this name/);
  const bad = await postForm(url, { from: "", to: "", subject: "", text: "" });
  assert.equal(bad.status, 400);
  assert.match(await bad.text(), /To must be the e-mail address of an inbox/);
  const foreign = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { "Content-Type": FORM, Origin: "http://evil.test" },
    body: String(new URLSearchParams(MAIL)),
  });
  assert.equal(foreign.status, 403);
  await foreign.body?.cancel();
  assert.equal((await messagesOf(holder, inbox.id)).length, 1);
});

/** Local mode's routes over mails that a test captures; they hand in at a relay, as its gateway. */
async function startAnswers(relay: TestRelay, way: HandIn = gatewayOf(relay)) {
  const mails = new CapturedMails();
  const mailer = createCaptureMailer(mails, relay.clock.now);
  const bodies = createBodyReader();
  const app = await startApp(
    localRoutes({
      mails,
      baseUrl: "http://127.0.0.1:1",
      domain: "agents.test",
      handIn: way,
      now: relay.clock.now,
      random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    }),
    { bodies },
  );
  return {
    url: app.url,
    async capture(raw: string, from: string, to: string) {
      const mail = { from, to, content: new TextEncoder().encode(raw) };
      const { signal } = new AbortController();
      await mailer.send(mail, { beforeContent: () => Promise.resolve(), signal });
    },
    answer: (n: number, body: unknown) => post(`${app.url}/dev/mail/${n}/answer`, body),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      bodies.close();
    },
  };
}

function gatewayOf({ url, clock }: TestRelay): HandIn {
  return async (mail) => {
    const timestamp = Math.floor(clock.now() / 1000);
    const { status, body } = await handIn(url, { ...mail, timestamp });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
}

Deno.test("a reply lands in the thread of what it answers, a bounce and an out-of-office mail too", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const inbox = await holder.inbox({ local_part: "bot" });
  await using local = await startAnswers(relay);
  // What the inbox sends names what it got, so that the thread is known without the sent mail.
  const first = mailText({ headers: { "Message-ID": "<one@x.test>" } });
  const timestamp = Math.floor(relay.clock.now() / 1000);
  accepted(await handIn(relay.url, { to: [inbox.address], raw: first, timestamp }), 200);
  const sent = mailText({
    headers: {
      From: "Bot <bot@agents.test>",
      To: "ann@x.test",
      Subject: "Re: Hello",
      "Message-ID": "<two@agents.test>",
      "In-Reply-To": "<one@x.test>",
      References: "<one@x.test>",
    },
    text: "How are you?\r\n",
  });
  await local.capture(sent, "bot@agents.test", "ann@x.test");

  const replied = await local.answer(1, { as: "reply", text: "Fine." });
  assert.deepEqual([replied.status, replied.json], [
    200,
    { accepted: ["bot@agents.test"], rejected: [] },
  ]);
  assert.equal((await local.answer(1, { as: "bounce" })).status, 200);
  assert.equal((await local.answer(1, { as: "out_of_office" })).status, 200);
  const form = await postForm(`${local.url}/dev/mail/1/answer`, { as: "reply" });
  assert.deepEqual([form.status, form.headers.get("location")], [303, "/dev/mail/1?notice=reply"]);
  await form.body?.cancel();

  const [original, reply, bounce, outOfOffice, ownWords] = await messagesOf(holder, inbox.id);
  assert.deepEqual([reply, bounce, outOfOffice, ownWords].map((one) => one.thread_id), [
    original.thread_id,
    original.thread_id,
    original.thread_id,
    original.thread_id,
  ]);
  assert.deepEqual([reply.envelope.from, reply.automated, reply.subject, reply.in_reply_to], [
    "ann@x.test",
    "none",
    "Re: Hello",
    "two@agents.test",
  ]);
  assert.deepEqual(reply.references, ["one@x.test", "two@agents.test"]);
  assert.match(reply.text, /^Fine\.\n\nOn [^]* wrote:\n> How are you\?/);
  assert.equal(reply.extracted_text.trim(), "Fine.");
  assert.equal(ownWords.extracted_text.trim(), "This is a reply that local mode wrote.");
  assert.deepEqual([bounce.envelope.from, bounce.automated], ["", "bounce"]);
  const raw = await fetch(`${relay.url}/v1/mail/messages/${bounce.id}/raw`, {
    headers: { Authorization: `Bearer ${holder.key}` },
  });
  assert.deepEqual(parseDsn(await raw.bytes()), [{
    action: "failed",
    status: "5.1.1",
    diagnostic: { type: "smtp", text: "550 5.1.1 no such user here" },
    addresses: ["ann@x.test"],
  }]);
  assert.deepEqual([outOfOffice.envelope.from, outOfOffice.automated], ["", "auto_reply"]);
  for (const { auth } of [reply, bounce, outOfOffice]) {
    assert.deepEqual(auth, { ...NO_AUTH, from_domain: "x.test" });
  }
});

Deno.test("an answer goes where the captured mail says, whoever that is, and says why it did not arrive", async () => {
  await using relay = await startMailRelay();
  const asked: string[][] = [];
  const ways: Record<string, HandIn> = {
    nobody: ({ from, to }) => {
      asked.push([from, ...to]);
      return Promise.resolve({
        accepted: [],
        rejected: to.map((address) => ({ address, code: "not_found" })),
      });
    },
    later: () => Promise.reject(unavailable("no room", 5_000)),
  };
  await using local = await startAnswers(relay, ways["nobody"]);
  const bounceAddress = "bounce+01kabcdefghjkmnpqrstvwxyz0.00abc@agents.test";
  await local.capture(
    mailText({ headers: { From: "bot@agents.test", "Reply-To": "a@x.test, b@y.test" } }),
    bounceAddress,
    "ann@x.test",
  );
  for (const as of ["reply", "bounce", "out_of_office"]) {
    assertRefused(await local.answer(1, { as }), "not_found", /nobody took the mail/);
  }
  assert.deepEqual(asked, [
    ["ann@x.test", "a@x.test", "b@y.test"],
    ["", bounceAddress],
    ["", bounceAddress],
  ]);
  await using full = await startAnswers(relay, ways["later"]);
  await full.capture(mailText(), "bot@agents.test", "ann@x.test");
  assertRefused(await full.answer(1, { as: "reply" }), "unavailable", /no room/);
});

Deno.test("answers to mails that the relay really sent come to no inbox, and say so", async () => {
  await using relay = await startMailRelay();
  assert.equal((await post(`${relay.url}/v1/mail/org/magic`, { email: "a@x.test" })).status, 202);
  await relay.relay.crons.outgoing!();
  for (const as of ["reply", "bounce", "out_of_office"]) {
    const answer = await post(`${relay.url}/dev/mail/1/answer`, { as });
    assertRefused(answer, "not_found", /no inbox of this name/);
  }
});

Deno.test("what an inbox sent is answered by a person, in the thread that the inbox began", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, owner.key, "owner@example.org")), 200);
  const inbox = await owner.inbox({ local_part: "bot", display_name: "Böt, the bot" });
  const sent = accepted(
    await owner.ask("POST", `/v1/mail/inboxes/${inbox.id}/messages/send`, {
      body: { to: "ann@example.net", subject: "Grüße", text: "How are you?" },
    }),
    202,
  );
  await relay.relay.crons.outgoing!();
  const { json } = await ask(`${relay.url}/dev/mail`);
  const { n } = json.data.find(({ subject }: { subject: string }) => subject === "Grüße");
  const replied = await post(`${relay.url}/dev/mail/${n}/answer`, { as: "reply", text: "Fine." });
  assert.deepEqual([replied.status, replied.json.accepted], [200, ["bot@agents.test"]]);
  const [own, reply] = await messagesOf(owner, inbox.id);
  assert.equal(own.id, sent.id);
  assert.deepEqual(
    [reply.thread_id, reply.in_reply_to, reply.subject, reply.extracted_text.trim()],
    [
      sent.thread_id,
      sent.rfc_message_id,
      "Re: Grüße",
      "Fine.",
    ],
  );
  assert.deepEqual(reply.auth, { ...NO_AUTH, from_domain: "example.net" });
});
