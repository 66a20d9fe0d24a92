/** Local mode answers what it captured: a reply, a bounce, an out-of-office mail. */
import assert from "node:assert/strict";
import { unavailable } from "../../../server/base/errors.ts";
import { createBodyReader } from "../../../server/base/http/bodies/body_reader.ts";
import { createCaptureMailer } from "../../../server/web/dev/capture_mailer.ts";
import { readMail } from "../../../server/web/dev/read_mail.ts";
import { CapturedMails } from "../../../server/web/dev/captured_mails.ts";
import type { HandIn } from "../../../server/web/dev/hand_in.ts";
import { localRoutes } from "../../../server/web/dev/routes.ts";
import { readReport } from "../../../server/mail/reading/reports/read_report.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import { ask, assertRefused } from "../../support/answer.ts";
import { startApp } from "../../support/app_server.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { messagesOf, NO_AUTH, post, postForm } from "../../support/local_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { claimLink, follow } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";

/** Local mode's routes over mails that a test captures; they hand in at a relay, as its gateway. */
async function startAnswers(relay: TestRelay, way: HandIn = gatewayOf(relay)) {
  const mails = new CapturedMails();
  const mailer = createCaptureMailer(mails, relay.clock.now, readMail);
  const bodies = createBodyReader();
  const app = await startApp(
    localRoutes({
      mails,
      baseUrl: "http://127.0.0.1:1",
      domain: "agents.test",
      handIn: way,
      now: relay.clock.now,
      random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    }).routes,
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
  // A mail of the inbox names the mail it answers, so the thread is known without the sent mail.
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
  assert.deepEqual(toEnd(readReport(await raw.bytes(), "")), [{
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
