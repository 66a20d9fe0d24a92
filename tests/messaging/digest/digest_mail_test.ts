import assert from "node:assert/strict";
import { parseMail, startSmtpServer } from "../../support/smtp_server.ts";
import { MINUTE_MS, setEmail, startDigestBench } from "./digest_bench.ts";

const READER = "reader@example.net";

Deno.test("a digest tells count, senders and links in text and HTML, never a subject or body", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const bob = await bench.agent("bob", READER);
  const alice = await bench.agent("alice");
  const carol = await bench.agent("carol");
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "bob", body: { subject: "Secret subject", text: "Secret words" } });
  await carol.sent({ to: "bob", body: "Secret again" });
  await alice.sent({ to: "bob", body: "Secret thrice" });
  await bench.sweep();

  assert.equal(smtp.received.length, 1);
  const [received] = smtp.received;
  assert.deepEqual([received!.from, received!.to], ["relay@example.org", [READER]]);
  const mail = await parseMail(received!);
  assert.deepEqual([mail.from?.address, mail.from?.name], ["relay@example.org", "Relay"]);
  assert.deepEqual(mail.to?.map(({ address }) => address), [READER]);
  assert.equal(mail.subject, "3 unread messages");
  assert.equal(Date.parse(mail.date!), Math.floor(bench.relay.clock.now() / 1000) * 1000);
  const url = /^<(http:.*)>$/.exec(header(mail, "list-unsubscribe"))![1]!;
  assert.match(url, /\/v1\/notifications\/unsubscribe\?token=rt_unsub_[A-Za-z0-9_-]{43}$/);
  assert.ok(url.startsWith(`${bench.relay.url}/`));
  assert.equal(header(mail, "list-unsubscribe-post"), "List-Unsubscribe=One-Click");
  assert.equal(header(mail, "auto-submitted"), "auto-generated");
  assert.match(header(mail, "message-id"), /^<[0-9a-f]{32}@example\.org>$/);

  assert.match(header(mail, "content-type"), /^multipart\/alternative/);
  for (const [part, link] of [[mail.text!, url], [mail.html!, url]] as const) {
    assert.match(part, /3 unread messages for @bob/);
    assert.ok(part.includes("@alice") && part.includes(alice.wordName));
    assert.ok(part.includes("@carol") && part.includes(carol.wordName));
    assert.ok(part.includes(`${bench.relay.url}/`));
    assert.ok(part.includes(link), part);
  }
  assert.equal(count(mail.text!, "@alice"), 1, "a sender is named once");
  assert.match(mail.html!, new RegExp(`href="${bench.relay.url}/inbox"`));
  const raw = received!.content.toString();
  assert.equal(count(raw, url), 3, "the link stands whole in header, text and HTML");
  assert.doesNotMatch(raw + mail.text + mail.html + mail.subject, /secret/i);
  assert.doesNotMatch(raw, new RegExp(`${alice.address}|${bob.address}`));
});

Deno.test("a digest of one message says message", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const bob = await bench.agent("bob", READER);
  bench.relay.clock.advance(1);
  await bob.sent({ to: "bob", body: "to myself" });
  await bench.sweep();
  assert.equal((await parseMail(smtp.received[0]!)).subject, "1 unread message");
});

Deno.test("a digest names 20 senders, the newest first, then how many more", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  await bench.agent("bob", READER);
  bench.relay.clock.advance(1);
  for (let i = 1; i <= 23; i++) {
    const sender = await bench.agent(`sender_${i}`);
    await sender.sent({ to: "bob", body: "hello" });
  }
  await bench.sweep();
  const mail = await parseMail(smtp.received[0]!);
  assert.equal(mail.subject, "23 unread messages");
  const named = [...mail.text!.matchAll(/^ {2}@(sender_\d+) \([a-z]+-[a-z]+-[a-z]+\)\r?$/gm)]
    .map(([, handle]) => handle);
  assert.deepEqual(named, Array.from({ length: 20 }, (_, i) => `sender_${23 - i}`));
  assert.match(mail.text!, /^ {2}and 3 more\r?$/m);
  assert.match(mail.html!, /<li>and 3 more<\/li>/);
});

Deno.test("a digest counts all undelivered messages, older ones than the address included", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const bob = await bench.agent("bob");
  const alice = await bench.agent("alice");
  await alice.sent({ to: "bob", body: "delivered" });
  await bob.inbox();
  await alice.sent({ to: "bob", body: "waiting, before the address" });
  bench.relay.clock.advance(1_000);
  await setEmail(bob, READER);
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "bob", body: "waiting, after the address" });
  await bench.sweep();
  assert.equal((await parseMail(smtp.received[0]!)).subject, "2 unread messages");
});

Deno.test("links carry RELAY_BASE_URL", async () => {
  await using smtp = await startSmtpServer();
  const baseUrl = "https://relay.example.org";
  await using bench = await startDigestBench({ smtpPort: smtp.port, baseUrl });
  const bob = await bench.agent("bob", READER);
  bench.relay.clock.advance(MINUTE_MS);
  await bob.sent({ to: "bob", body: "hello" });
  await bench.sweep();
  const mail = await parseMail(smtp.received[0]!);
  assert.match(mail.text!, /^Inbox: https:\/\/relay\.example\.org\/inbox\r?$/m);
  assert.match(header(mail, "list-unsubscribe"), /^<https:\/\/relay\.example\.org\/v1\//);
});

type Mail = Awaited<ReturnType<typeof parseMail>>;

function header(mail: Mail, name: string): string {
  return mail.headers.find(({ key }) => key === name)?.value ?? "";
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
