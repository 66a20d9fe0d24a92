/** Local mode hands mail in: by programs, and by the page's form. */
import assert from "node:assert/strict";
import { ask, assertRefused } from "../../support/answer.ts";
import { FORM, messagesOf, NO_AUTH, post, postForm } from "../../support/local_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";

const MAIL = {
  from: "Ann@X.test",
  to: "bot@agents.test",
  subject: "Grüße",
  text: "Code: 482913\n",
};

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
  assert.match(page.text, /class="note ok" role="status">The mail was handed in/);
  // Under no-referrer a browser would send `Origin: null` with the form.
  assert.equal(page.headers.get("referrer-policy"), "same-origin");
  for (const notice of ["", "x", "constructor", "<b>", "handed_in%00"]) {
    const other = await ask(`${url}?notice=${notice}`, { headers: { Accept: "text/html" } });
    assert.doesNotMatch(other.text, /class="note/, notice);
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
