/** What a person is shown before they let a draft go out, and what becomes of what they write. */
import assert from "node:assert/strict";
import { accepted } from "../../support/mail_caller.ts";
import { type BrowserSession, signedInBy } from "./browser_session.ts";
import { type MailboxWorld, makeMailboxWorld } from "./mailbox_world.ts";

async function keep({ owner }: MailboxWorld, inbox: { id: string }, body: unknown) {
  const path = `/v1/mail/inboxes/${inbox.id}/drafts`;
  return accepted(await owner.ask("POST", path, { body }), 201);
}

async function listDrafts({ owner }: MailboxWorld, inbox: { id: string }) {
  return accepted(await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/drafts`), 200).data;
}

/** The form in which mail is written, as a browser sends it. */
async function write(
  session: BrowserSession,
  fields: Record<string, string>,
): Promise<{ status: number; location: string | null; text: string }> {
  const body = new FormData();
  const form = await session.tokenOn("/mail/write", "/mail/write");
  for (const [name, value] of Object.entries({ ...fields, form })) body.set(name, value);
  const answer = await fetch(`${session.url}/mail/write`, {
    method: "POST",
    headers: { Accept: "text/html", Cookie: session.cookie, Origin: session.url },
    body,
    redirect: "manual",
  });
  const { status, headers } = answer;
  return { status, location: headers.get("location"), text: await answer.text() };
}

Deno.test("the page of a draft names its sender as recipients will see it", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, research } = world;
  const patched = { body: { display_name: "Your bank" } };
  accepted(await owner.ask("PATCH", `/v1/mail/inboxes/${research.id}`, patched), 200);
  const session = await signedInBy(relay.url, owner.key);
  const [draft] = await listDrafts(world, research);
  const { text } = await session.get(`/mail/waiting/${draft.id}`);
  assert.match(text, /<dt>From<\/dt><dd>.{0,100}Your bank/s);
  assert.ok(text.includes(research.address));
});

Deno.test("the page of a draft tells of what is hidden in its subject, names and files", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, research } = world;
  const session = await signedInBy(relay.url, owner.key);
  const hidden = "\u200c\u200d\u200c\u200d\u200c";
  const content = btoa("x");
  const words = { to: "a@example.net", subject: "s", text: "t" };
  const clean = await keep(world, research, words);
  const told = /is hidden from those who read it/;
  assert.doesNotMatch((await session.get(`/mail/waiting/${clean.id}`)).text, told);
  for (
    const given of [
      { subject: `s${hidden}` },
      { to: { name: `Ann${hidden}`, address: "a@example.net" } },
      { attachments: [{ filename: `a${hidden}.txt`, content_type: "text/plain", content }] },
    ]
  ) {
    const { id } = await keep(world, research, { ...words, ...given });
    assert.match((await session.get(`/mail/waiting/${id}`)).text, told, JSON.stringify(given));
  }
});

Deno.test("the page of a draft that goes out as it was written does not say that it shows all of it", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk, research } = world;
  const session = await signedInBy(relay.url, owner.key);
  const words = {
    to: "a@example.net",
    html: '<p>Hello</p><img src="https://track.example/pixel.gif">',
  };
  const direct = await keep(world, helpdesk, words);
  const { text } = await session.get(`/mail/waiting/${direct.id}`);
  assert.doesNotMatch(text, /As it goes out/);
  assert.match(text, /sends HTML as it was written/);
  const approved = await keep(world, research, words);
  const shown = (await session.get(`/mail/waiting/${approved.id}`)).text;
  assert.match(shown, /As it goes out/);
  assert.doesNotMatch(shown, /sends HTML as it was written/);
});

Deno.test("what is kept twice is one draft, and what was changed in between is not lost", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk } = world;
  const session = await signedInBy(relay.url, owner.key);
  const words = { inbox: helpdesk.id, to: "a@example.net", subject: "s", do: "draft", once: "1" };
  const first = await write(session, { ...words, text: "one" });
  const again = await write(session, { ...words, text: "one" });
  assert.deepEqual([first.status, again.location], [303, first.location]);
  // As after the browser's way back to the form.
  const changed = await write(session, { ...words, text: "two" });
  assert.equal(changed.status, 303);
  assert.notEqual(changed.location, first.location);
  assert.equal((await listDrafts(world, helpdesk)).length, 2);
  assert.match((await session.get(changed.location!)).text, /two/);
});

Deno.test("what is sent twice is one mail, and what was changed in between is another", async () => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk } = world;
  const session = await signedInBy(relay.url, owner.key);
  const words = { inbox: helpdesk.id, to: "a@example.net", subject: "s", do: "send", once: "1" };
  const first = await write(session, { ...words, text: "one" });
  const again = await write(session, { ...words, text: "one" });
  assert.deepEqual([first.status, again.location], [303, first.location]);
  const changed = await write(session, { ...words, text: "two" });
  assert.equal(changed.status, 303, changed.text);
  assert.notEqual(changed.location, first.location);
});
