/** Asking for a sign-in link: addresses, limits, and that the answer does not tell known addresses from others. */
import assert from "node:assert/strict";
import { countReads } from "../../support/count_reads.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import {
  askForLink,
  claimLink,
  follow,
  linkMails,
  MAGIC_CONFIRM,
  magicLink,
  newestLink,
} from "../../support/mail_links.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { openMemoryKv } from "../../support/read_through.ts";

const EMAIL = "owner@example.org";
const HOUR_MS = 3_600_000;

Deno.test("a known and an unknown address get one answer, headers and mail alike", async () => {
  await using relay = await startMailRelay();
  accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  const [known, unknown] = await Promise.all([
    askForLink(relay, EMAIL),
    askForLink(relay, "nobody@example.org"),
  ]);
  const shape = ({ status, body, headers }: typeof known) => [status, body, [...headers.keys()]];
  assert.deepEqual(shape(known), shape(unknown));
  const said = async (email: string) => {
    const { subject, text, token } = await newestLink(relay, email);
    return [subject, text.replaceAll(token, "TOKEN")];
  };
  assert.deepEqual(await said(EMAIL), await said("nobody@example.org"));
});

Deno.test("asking for a link reads and writes as much for a known address as for an unknown one", async () => {
  const kv = await openMemoryKv();
  const counted = countReads(kv);
  try {
    await using relay = await startMailRelay({ deps: { kv: counted.kv } });
    const holder = await newOrg(relay);
    accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200);
    // Both addresses have been written to before: a claim's mail counts as a sign-in's does.
    await magicLink(relay, "nobody@example.org");
    const cost = async (email: string) => {
      const before = await namesOf(kv);
      counted.takeCounts();
      accepted(await askForLink(relay, email), 202);
      await relay.relay.crons.outgoing!();
      // How often the queue looks for rows is a matter of time.
      const reads = Object.entries(counted.takeCounts()).filter(([name]) =>
        !name.startsWith("outgoing-")
      );
      const after = await namesOf(kv);
      const written = Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)]);
      return { reads: Object.fromEntries(reads), written: written.filter(([, n]) => n !== 0) };
    };
    const known = await cost(EMAIL);
    assert.ok(known.written.length > 0);
    assert.deepEqual(await cost("nobody@example.org"), known);
  } finally {
    kv.close();
  }
});

/** How many rows the store has, by the first part of their keys. */
async function namesOf(kv: Deno.Kv): Promise<Record<string, number>> {
  const names: Record<string, number> = {};
  for await (const { key } of kv.list({ prefix: [] })) {
    names[String(key[0])] = (names[String(key[0])] ?? 0) + 1;
  }
  return names;
}

Deno.test("what is no address of a person elsewhere is 400 invalid_email, for sign-in and claim", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const long = "a".repeat(64);
  const bad: unknown[] = [
    undefined,
    null,
    7,
    ["a@example.org"],
    "",
    "a",
    "@example.org",
    "a@",
    "a@b",
    "a@example.org.",
    "a@.example.org",
    "a@@example.org",
    "a b@example.org",
    "a@exa mple.org",
    ".a@example.org",
    "a.@example.org",
    "a..b@example.org",
    '"a b"@example.org',
    '"a"@example.org',
    "a@[127.0.0.1]",
    "a@127.0.0.1",
    "a@[IPv6:::1]",
    "a@１２７.0.0.1",
    "é@example.org",
    "a@example.org,b@example.org",
    "a@example.org\nBcc: b@example.org",
    "Name <a@example.org>",
    "a@ex%61mple.org",
    `${long}a@example.org`,
    `${long}@${long}.${long}.${long}.org`,
    "bot@agents.test",
    "Bot@AGENTS.test",
  ];
  for (const email of bad) {
    assertMailRefused(await askForLink(relay, email), "invalid_email");
    const claim = await holder.ask("POST", "/v1/mail/org/claim", { body: { email } });
    assertMailRefused(claim, "invalid_email");
  }
  assert.deepEqual((await askMail(relay.url, "GET", "/dev/mail")).body.data, []);
  const good: [string, string][] = [
    [`${long}@example.org`, `${long}@example.org`],
    ["O'Neil+tag@Sub.Example.ORG", "o'neil+tag@sub.example.org"],
    ["a@Bücher.example", "a@xn--bcher-kva.example"],
    ["a@agents.test.example.org", "a@agents.test.example.org"],
  ];
  for (const [email, stored] of good) {
    const { verified_email } = accepted(
      await follow(relay, (await askForLink(relay, email), await newestLink(relay, stored))),
      200,
    );
    assert.equal(verified_email, stored);
  }
});

Deno.test("limits of sign-in links: 3 an address without its tag, 20 a client, for an hour", async () => {
  await using relay = await startMailRelay();
  for (const email of ["a@example.org", "a+x@example.org", "A+Y@example.org"]) {
    assert.equal((await askForLink(relay, email)).status, 202);
  }
  const refused = await askForLink(relay, "a+z@example.org");
  assertMailRefused(refused, "rate_limited", /3 sign-in links/);
  assert.equal(refused.body.retry_after_ms, HOUR_MS);
  assert.equal((await linkMails(relay, "a+z@example.org")).length, 0);
  relay.clock.advance(HOUR_MS - 1);
  assertMailRefused(await askForLink(relay, "a@example.org"), "rate_limited");
  relay.clock.advance(1);
  for (let i = 0; i < 20; i++) {
    assert.equal((await askForLink(relay, `b${i}@example.org`)).status, 202);
  }
  assertMailRefused(await askForLink(relay, "c@example.org"), "rate_limited", /20 sign-in links/);
  relay.clock.advance(HOUR_MS);
  assert.equal((await askForLink(relay, "c@example.org")).status, 202);
});

Deno.test("a body that is no request for a link sends nothing", async () => {
  await using relay = await startMailRelay();
  for (const org_id of [7, {}, [], true]) {
    assertMailRefused(await askForLink(relay, EMAIL, { org_id }), "invalid_json", /org_id/);
  }
  for (const body of ["", "[]", "{"]) {
    const answer = await askMail(relay.url, "POST", "/v1/mail/org/magic", { body });
    assertMailRefused(answer, "invalid_json");
  }
  const link = await magicLink(relay, EMAIL);
  for (const action of ["cancel", "", 7]) {
    const body = { token: link.token, action };
    const answer = await askMail(relay.url, "POST", MAGIC_CONFIRM, { body });
    assertMailRefused(answer, "invalid_json", /delete_other_keys/);
  }
  accepted(await follow(relay, link), 200);
});
