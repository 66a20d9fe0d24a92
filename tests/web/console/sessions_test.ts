// Over 300 lines: the attacks on a session, side by side.
/** Sessions of the mailbox as their attackers meet them. */
import assert from "node:assert/strict";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { askForLink, magicLink, newestLink } from "../../support/mail_links.ts";
import { connectRaw } from "../../support/raw_http.ts";
import { newSendingOrg, readMessage } from "../../support/sending_org.ts";
import { BrowserSession, isOpen, signedInBy } from "./browser_session.ts";
import { makeMailboxWorld, OWNER } from "./mailbox_world.ts";

const HOUR_MS = 3_600_000;

Deno.test("a link opens the mailbox, shows no key, and works once", async () => {
  await using relay = await startMailRelay();
  accepted(await askForLink(relay, OWNER), 202);
  const { path, token } = await newestLink(relay, OWNER);
  const browser = new BrowserSession(relay.url);
  const asked = await browser.get(path);
  assert.match(asked.text, /action="\/mail\/sign-in\/link"/);
  assert.match(asked.text, /Sign in, and show an API key/);
  const opened = await browser.post("/mail/sign-in/link", { token });
  assert.deepEqual([opened.status, opened.location], [303, "/mail"]);
  assert.match(
    opened.headers.get("set-cookie")!,
    /^relay_mail=[0-9A-Z]{26}\.[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
  );
  assert.ok(await isOpen(browser));
  const org = await browser.get("/mail/org");
  assert.match(org.text, /ann@example\.org/);
  assert.doesNotMatch(org.text, /rm_sk_/);
  const again = await new BrowserSession(relay.url).post("/mail/sign-in/link", { token });
  assert.equal(again.status, 410);
  assert.match(again.text, /action="\/mail\/sign-in\/email"/);
});

Deno.test("over TLS the cookie has the prefix that no other host can set", async () => {
  await using relay = await startMailRelay();
  const { apiKey } = { apiKey: (await newOrg(relay)).key };
  const browser = new BrowserSession(relay.url);
  // As behind a proxy with TLS, whose browser says where the form is from: another origin than the relay's is none.
  const foreign = await browser.post("/mail/sign-in/key", { api_key: apiKey }, {
    Origin: "https://evil.example",
  });
  assert.equal(foreign.status, 403);
  const own = await browser.post("/mail/sign-in/key", { api_key: apiKey });
  const value = own.headers.get("set-cookie")!.split(";")[0]!.slice("relay_mail=".length);
  // Another name of the cookie is as good, and beyond this machine the plain one is none.
  browser.cookie = `__Host-relay_mail=${value}`;
  assert.ok(await isOpen(browser));
});

Deno.test("signing in begins a fresh session, and ends the one that was planted", async () => {
  await using relay = await startMailRelay();
  const [thief, owner] = [await newOrg(relay), await newOrg(relay)];
  const planted = await signedInBy(relay.url, thief.key);
  const victim = new BrowserSession(relay.url);
  victim.cookie = planted.cookie;
  const { status } = await victim.post("/mail/sign-in/key", { api_key: owner.key });
  assert.equal(status, 303);
  assert.notEqual(victim.cookie, planted.cookie);
  assert.deepEqual([await isOpen(victim), await isOpen(planted)], [true, false]);
  for (const made of ["relay_mail=x", `relay_mail=${"0".repeat(26)}.${"A".repeat(43)}`]) {
    planted.cookie = made;
    assert.equal(await isOpen(planted), false, made);
  }
});

Deno.test("a session dies with its key, with its org, after 12 hours, and when all are signed out", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, OWNER);
  const made = await owner.newKey({ name: "console" });
  const stolen = await signedInBy(relay.url, made.api_key);
  assert.ok(await isOpen(stolen));
  accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${made.id}`), 204);
  assert.equal(await isOpen(stolen), false);

  const late = await signedInBy(relay.url, owner.key);
  relay.clock.advance(12 * HOUR_MS - 1);
  assert.ok(await isOpen(late));
  relay.clock.advance(1);
  assert.equal(await isOpen(late), false);

  const [one, other] = [
    await signedInBy(relay.url, owner.key),
    await signedInBy(relay.url, owner.key),
  ];
  const before = one.cookie;
  const out = await one.press("/mail/waiting", "/mail/sign-out", { everywhere: "yes" });
  assert.deepEqual([out.status, one.cookie], [303, ""]);
  one.cookie = before;
  assert.deepEqual([await isOpen(one), await isOpen(other)], [false, false]);

  const last = await signedInBy(relay.url, owner.key);
  accepted(await owner.deleteOrg(), 204);
  assert.equal(await isOpen(last), false);
});

Deno.test("a session of an inbox's key signs out itself alone, and sees its inbox alone", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk, research } = world;
  const scoped = await owner.newKey({ name: "agent", scope: "inbox", inbox_id: helpdesk.id });
  const [person, agent] = [
    await signedInBy(relay.url, owner.key),
    await signedInBy(relay.url, scoped.api_key),
  ];
  assert.equal((await agent.get(`/mail/inboxes/${helpdesk.id}`)).status, 200);
  assert.equal((await agent.get(`/mail/inboxes/${research.id}`)).status, 404);
  assert.equal((await agent.get("/mail/keys")).status, 403);
  await agent.press("/mail/waiting", "/mail/sign-out", { everywhere: "yes" });
  assert.deepEqual([await isOpen(agent), await isOpen(person)], [false, true]);
});

Deno.test("no route of the API takes the cookie, and no page opens itself to other origins", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk } = world;
  const session = await signedInBy(relay.url, owner.key);
  const headers = { Cookie: session.cookie, Origin: "https://evil.example" };
  const refused = await askMail(relay.url, "GET", "/v1/mail/inboxes", { headers });
  assert.equal(refused.body.error.code, "missing_token");
  const [message] = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${helpdesk.id}/messages?direction=inbound`),
    200,
  ).data;
  const paths = [
    `/mail/inboxes/${helpdesk.id}`,
    `/mail/threads/${message.thread_id}`,
    ...["html", "source", "text"].map((one) => `/mail/messages/${message.id}/${one}`),
  ];
  for (const path of paths) {
    const { status, headers } = await session.get(path, { Origin: "https://evil.example" });
    assert.equal(status, 200, path);
    assert.equal(headers.get("access-control-allow-origin"), null, path);
    assert.equal(headers.get("cache-control"), "no-store", path);
  }
});

Deno.test("HEAD of the stream answers at once, and opens none", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk } = world;
  const { cookie } = await signedInBy(relay.url, owner.key);
  for (let i = 0; i < 12; i++) {
    const { status } = await fetch(`${relay.url}/mail/stream?inbox=${helpdesk.id}`, {
      method: "HEAD",
      headers: { Cookie: cookie },
    });
    assert.equal(status, 200);
  }
});

Deno.test("a form of another site, of another session or of another path does nothing", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk } = world;
  const session = await signedInBy(relay.url, owner.key);
  const other = await signedInBy(relay.url, owner.key);
  const [message] = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${helpdesk.id}/messages?direction=inbound`),
    200,
  ).data;
  const thread = `/mail/threads/${message.thread_id}`;
  const path = `/mail/messages/${message.id}`;
  const own = await session.tokenOn(thread, path);
  const fields = { do: "delete", back: "/mail" };
  const attempts: [Record<string, string>, Record<string, string>][] = [
    [{ ...fields, form: own }, { Origin: "https://evil.example" }],
    [{ ...fields, form: own }, { Origin: "null" }],
    [{ ...fields, form: await other.tokenOn(thread, path) }, {}],
    [{ ...fields, form: await session.tokenOn(thread, thread) }, {}],
    [fields, {}],
  ];
  for (const [given, headers] of attempts) {
    assert.equal((await session.post(path, given, headers)).status, 403);
  }
  const unnamed = await fetch(relay.url + path, {
    method: "POST",
    headers: { Cookie: session.cookie, Accept: "text/html" },
    body: new URLSearchParams({ ...fields, form: own }),
  });
  assert.equal(unnamed.status, 403);
  await unnamed.body?.cancel();
  assert.equal((await readMessage(owner, message.id)).id, message.id);
  const done = await session.post(path, { ...fields, form: own });
  assert.equal(done.status, 303);
  assert.equal((await owner.ask("GET", `/v1/mail/messages/${message.id}`)).status, 404);
});

Deno.test("another org's ids are 404 in every path, and its forms change nothing", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk, research } = world;
  const stranger = await newSendingOrg(relay);
  await stranger.inbox();
  const session = await signedInBy(relay.url, stranger.key);
  const [message] = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${helpdesk.id}/messages?direction=inbound`),
    200,
  ).data;
  const [draft] = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${research.id}/drafts`),
    200,
  ).data;
  const paths = [
    `/mail/inboxes/${helpdesk.id}`,
    `/mail/inboxes/${helpdesk.address}`,
    `/mail/threads/${message.thread_id}`,
    `/mail/messages/${message.id}`,
    ...["html", "source", "text", "attachments/att_0"].map((one) =>
      `/mail/messages/${message.id}/${one}`
    ),
    `/mail/stream?inbox=${helpdesk.id}`,
    `/mail/search?q=printers&inbox=${helpdesk.id}`,
    `/mail/waiting/${draft.id}`,
    `/mail/drafts/${draft.id}/html`,
    `/mail/write?reply=${message.id}`,
    `/mail/write?forward=${message.id}`,
    `/mail/write?draft=${draft.id}`,
    "/mail/webhooks/wh_01KT1GW6G0Y12K5E564BZ2S1NS",
  ];
  for (const path of paths) {
    const { status, text } = await session.get(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(text, /printers|professor|482913/, path);
  }
  // Tokens are of a path, so those of its own session are good for these too: what holds is the org.
  const forms: [string, Record<string, string>][] = [
    [`/mail/messages/${message.id}`, { do: "delete" }],
    [`/mail/threads/${message.thread_id}`, { do: "read" }],
    [`/mail/waiting/${draft.id}`, { do: "send", revision: "1" }],
  ];
  const { formToken } = await import("../../../server/mail/sessions/mail_sessions.ts");
  const value = session.cookie.slice("relay_mail=".length);
  for (const [path, fields] of forms) {
    const { status } = await session.post(path, { ...fields, form: formToken(value, path) });
    assert.equal(status, 404, path);
  }
  assert.equal((await readMessage(owner, message.id)).read, message.read);
});

Deno.test("a draft that changed while it was read is shown anew, and not sent", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, research } = world;
  const session = await signedInBy(relay.url, owner.key);
  const [draft] = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${research.id}/drafts`),
    200,
  ).data;
  const path = `/mail/waiting/${draft.id}`;
  const token = await session.tokenOn(path, path);
  accepted(
    await owner.ask("PATCH", `/v1/mail/drafts/${draft.id}`, {
      body: { text: "Send money.", html: null },
    }),
    200,
  );
  for (const what of ["send", "discard"]) {
    const refused = await session.post(path, { do: what, revision: "1", form: token });
    assert.equal(refused.status, 409, what);
    assert.match(refused.text, /Send money\./);
    assert.doesNotMatch(refused.text, /Approve and send/);
  }
  assert.match((await session.get(`/mail/drafts/${draft.id}`)).location!, /^\/mail\/waiting\//);
  const sent = await session.post(path, { do: "send", revision: "2", form: token });
  assert.deepEqual([sent.status, sent.location], [303, "/mail/waiting?done=sent"]);
  const agent = await owner.newKey({ name: "agent", scope: "inbox", inbox_id: research.id });
  const bound = await signedInBy(relay.url, agent.api_key);
  const made = accepted(
    await owner.ask("POST", `/v1/mail/inboxes/${research.id}/drafts`, {
      body: { to: "a@example.net", text: "b" },
    }),
    201,
  );
  const own = `/mail/waiting/${made.id}`;
  assert.doesNotMatch((await bound.get(own)).text, /Approve and send/);
  const { formToken } = await import("../../../server/mail/sessions/mail_sessions.ts");
  const form = formToken(bound.cookie.slice("relay_mail=".length), own);
  assert.equal((await bound.post(own, { do: "send", revision: "1", form })).status, 403);
});

Deno.test("a session by a link switches to another org of its address, one by a key does not", async () => {
  await using relay = await startMailRelay();
  const first = new BrowserSession(relay.url);
  await first.post("/mail/sign-in/link", { token: (await magicLink(relay, OWNER)).token });
  const claimed = await newSendingOrg(relay, OWNER);
  const named = await magicLink(relay, OWNER, { org_id: claimed.orgId });
  // An org that was only claimed is none of those, until a link that names it has opened it.
  assert.ok(!(await first.get("/mail/org")).text.includes(claimed.orgId));
  const second = new BrowserSession(relay.url);
  await second.post("/mail/sign-in/link", { token: named.token, org_id: claimed.orgId });
  assert.ok((await second.get("/mail/org")).text.includes(claimed.orgId));
  const switched = await first.press("/mail/org", "/mail/switch", { org_id: claimed.orgId });
  assert.deepEqual([switched.status, switched.location], [303, "/mail"]);
  assert.ok((await first.get("/mail/org")).text.includes(`whole">${claimed.orgId}`));

  const stranger = await newSendingOrg(relay);
  const form = await first.tokenOn("/mail/org", "/mail/switch");
  assert.equal((await first.post("/mail/switch", { org_id: stranger.orgId, form })).status, 404);
  const byKey = await signedInBy(relay.url, claimed.key);
  assert.doesNotMatch((await byKey.get("/mail/org")).text, /action="\/mail\/switch"/);
  const { formToken } = await import("../../../server/mail/sessions/mail_sessions.ts");
  const own = formToken(byKey.cookie.slice("relay_mail=".length), "/mail/switch");
  assert.equal(
    (await byKey.post("/mail/switch", { org_id: claimed.orgId, form: own })).status,
    403,
  );
});

Deno.test("signing out deletes the key that a sign-in made for the session and showed nobody", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, OWNER);
  const { token } = await magicLink(relay, OWNER, { org_id: owner.orgId });
  const browser = new BrowserSession(relay.url);
  await browser.post("/mail/sign-in/link", { token, org_id: owner.orgId });
  const names = async () =>
    accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200).data.map(
      ({ name }: { name: string }) => name.split(" ")[0],
    ).toSorted();
  assert.deepEqual(await names(), ["magic", "registration"]);
  await browser.press("/mail/org", "/mail/sign-out", {});
  assert.deepEqual(await names(), ["registration"]);
});

Deno.test("signing out everywhere deletes the keys that sign-ins made for all sessions that it ends", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, OWNER);
  const browsers: BrowserSession[] = [];
  for (let i = 0; i < 2; i++) {
    const { token } = await magicLink(relay, OWNER, { org_id: owner.orgId });
    const browser = new BrowserSession(relay.url);
    await browser.post("/mail/sign-in/link", { token, org_id: owner.orgId });
    browsers.push(browser);
  }
  const count = async () => accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200).data.length;
  assert.equal(await count(), 3);
  await browsers[0]!.press("/mail/org", "/mail/sign-out", { everywhere: "yes" });
  assert.equal(await count(), 1);
  assert.equal(await isOpen(browsers[1]!), false);
});

Deno.test("a form whose session ended while its body came does nothing", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, OWNER);
  const { token } = await magicLink(relay, OWNER, { org_id: owner.orgId });
  const thief = new BrowserSession(relay.url);
  await thief.post("/mail/sign-in/link", { token, org_id: owner.orgId });
  const form = await thief.tokenOn("/mail/org", "/mail/sign-out");
  const { formToken } = await import("../../../server/mail/sessions/mail_sessions.ts");
  const value = thief.cookie.slice("relay_mail=".length);
  assert.equal(formToken(value, "/mail/sign-out"), form);
  const body = new URLSearchParams({
    org_id: owner.orgId,
    form: formToken(value, "/mail/switch"),
  }).toString();
  using held = await connectRaw(Number(new URL(relay.url).port));
  await held.send(
    `POST /mail/switch HTTP/1.1\r\nHost: ${new URL(relay.url).host}\r\nOrigin: ${relay.url}\r\n` +
      `Cookie: ${thief.cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 10)}`,
  );
  const person = await signedInBy(relay.url, owner.key);
  // By then the slow form has been let in: both came to the same loop, it first.
  await person.press("/mail/org", "/mail/sign-out", { everywhere: "yes" });
  await held.send(body.slice(10));
  const answer = await held.answer();
  assert.equal(answer?.status, 403);
  assert.equal(answer?.headers.has("set-cookie"), false);
});

Deno.test("a key has twenty sessions: one more ends its oldest, and no other key's", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, OWNER);
  const person = await signedInBy(relay.url, owner.key);
  const made = await owner.newKey({ name: "busy" });
  const sessions: BrowserSession[] = [];
  for (let i = 0; i < 21; i++) {
    relay.clock.advance(1);
    sessions.push(await signedInBy(relay.url, made.api_key));
  }
  assert.deepEqual(
    [await isOpen(sessions[0]!), await isOpen(sessions[1]!), await isOpen(person)],
    [false, true, true],
  );
});

Deno.test("an org is deleted when its name is typed, and not before", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay, OWNER);
  const session = await signedInBy(relay.url, owner.key);
  const wrong = await session.press("/mail/org", "/mail/org", { do: "delete", typed: "ann" });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /nothing was deleted/i);
  accepted(await owner.readOrg(), 200);
  const right = await session.press("/mail/org", "/mail/org", { do: "delete", typed: OWNER });
  assert.deepEqual([right.status, session.cookie], [303, ""]);
  assert.equal((await owner.readOrg()).body.error.code, "unknown_key");
});
