/** What may spend a link: programs and buttons, never a scanner that only looks. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import {
  BROWSER,
  claimLink,
  follow,
  type LinkMail,
  magicLink,
  newestLink,
} from "../../support/mail_links.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { exchange } from "../../support/raw_http.ts";
import type { TestRelay } from "../../support/relay.ts";

const EMAIL = "owner@example.org";

const BROWSERS: Record<string, string>[] = [
  BROWSER,
  { Accept: "text/html" },
  { Accept: "application/json, text/html;q=0.5" },
  { "User-Agent": "Mozilla/5.0 (compatible; scanner)" },
  { "Sec-Fetch-Site": "none" },
  { "sec-fetch-dest": "document", Accept: "application/json" },
];
const PROGRAMS: Record<string, string>[] = [
  {},
  { Accept: "*/*" },
  { Accept: "application/json", "User-Agent": "curl/8.5.0" },
  { Accept: "text/html;q=0, */*", "User-Agent": "agent/1 (like Mozilla/5.0)" },
];

/** A request with these headers and no others, unlike fetch(). */
function raw(relay: TestRelay, method: string, path: string, headers: Record<string, string>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return exchange(
    relay.port,
    `${method} ${path} HTTP/1.1\r\nHost: x\r\n${lines}Connection: close\r\n\r\n`,
  );
}

async function bothLinks(relay: TestRelay): Promise<LinkMail[]> {
  const holder = await newOrg(relay);
  return [await magicLink(relay, EMAIL), await claimLink(relay, holder.key, EMAIL)];
}

Deno.test("browsers, scanners and HEAD spend nothing; then a button and a program do", async () => {
  await using relay = await startMailRelay();
  const links = await bothLinks(relay);
  assert.equal(links.length, 2);
  for (const link of links) {
    for (const headers of BROWSERS) {
      const page = await raw(relay, "GET", link.path, headers);
      assert.equal(page!.status, 200, JSON.stringify(headers));
      assert.match(
        page!.body,
        /<form method="post" action="\/v1\/mail\/org\/\w+\/confirm"><input type="hidden" name="token"/,
      );
      const told = page!.headers;
      assert.equal(told.get("cache-control"), "no-store");
      assert.equal(told.get("referrer-policy"), "no-referrer");
      assert.ok(!told.has("access-control-allow-origin"));
      assert.match(told.get("content-security-policy")!, /default-src 'none'/);
    }
    for (const headers of [...BROWSERS, ...PROGRAMS]) {
      const head = await raw(relay, "HEAD", link.path, headers);
      assert.deepEqual([head!.status, head!.body], [200, ""], JSON.stringify(headers));
    }
    const page = await askMail(relay.url, "POST", link.path.split("?")[0]!, {
      headers: { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ token: link.token }).toString(),
    });
    assert.equal(page.status, 200);
    assert.match(page.body, /<h1>(<bdi>)?(Signed in|The org is yours)/);
    assertMailRefused(await follow(relay, link), "link_expired");
    for (const headers of BROWSERS) {
      assert.equal((await raw(relay, "GET", link.path, headers))!.status, 410);
      assert.equal((await raw(relay, "HEAD", link.path, headers))!.status, 410);
    }
  }
});

Deno.test("a GET that is no browser's spends a sign-in link; what changes an owner asks it for JSON by name", async () => {
  await using relay = await startMailRelay({
    limits: { mailMagicPerEmailPerHour: 100, mailRegistrationsPerIpPerHour: 100 },
  });
  for (const headers of PROGRAMS) {
    const links = await bothLinks(relay);
    assert.equal(links.length, 2);
    for (const link of links) {
      const isNamed = headers["Accept"]?.startsWith("application/json") ?? false;
      if (!isNamed && link.path.includes("/claim/")) {
        const page = await raw(relay, "GET", link.path, headers);
        assert.equal(page!.status, 200);
        assert.match(page!.headers.get("content-type")!, /^text\/html/);
        assert.match(page!.body, /The org is mine/);
        // Nothing was confirmed: the link still does it.
        accepted(await follow(relay, link), 200);
        const dead = await raw(relay, "GET", link.path, headers);
        assert.equal(dead!.status, 410);
        assert.equal(JSON.parse(dead!.body).error.code, "link_expired");
        continue;
      }
      const answer = await raw(relay, "GET", link.path, headers);
      assert.equal(answer!.status, 200);
      assert.equal(answer!.headers.get("access-control-allow-origin"), "*");
      assert.match(answer!.body, /"org_id"/);
      assert.equal((await raw(relay, "GET", link.path, headers))!.status, 410);
    }
  }
});

Deno.test("what fetches links confirms no stranger's claim, and the victim's first sign-in is their own org", async () => {
  await using relay = await startMailRelay();
  const attacker = await newOrg(relay);
  const claim = await claimLink(relay, attacker.key, EMAIL);
  for (const headers of [...BROWSERS, ...PROGRAMS]) {
    if (headers["Accept"]?.startsWith("application/json")) continue;
    await raw(relay, "GET", claim.path, headers);
    await raw(relay, "HEAD", claim.path, headers);
  }
  assert.equal(accepted(await attacker.readOrg(), 200).verified_email, null);
  const { org_id, other_orgs } = accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  assert.notEqual(org_id, attacker.orgId);
  assert.deepEqual(other_orgs, []);
});

Deno.test("what fetches links gives no org back to a former owner", async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, holder.key, EMAIL)), 200);
  relay.clock.advance(1_000);
  accepted(await follow(relay, await claimLink(relay, holder.key, "next@example.org")), 200);
  const restore = await newestLink(relay, EMAIL);
  // Anybody may ask for a sign-in link of a former owner that names the org.
  const magic = await magicLink(relay, EMAIL, { org_id: holder.orgId });
  for (const link of [restore, magic]) {
    const fetched = await raw(relay, "GET", link.path, { Accept: "*/*" });
    assert.match(fetched!.body, /Take a mail org back/);
    await raw(relay, "HEAD", link.path, { Accept: "*/*" });
  }
  assert.equal(accepted(await holder.readOrg(), 200).verified_email, "next@example.org");
});

Deno.test("what fetches links opens no org that only claimed the address, and does not make it the default one", async () => {
  await using relay = await startMailRelay();
  const stranger = await newOrg(relay);
  // Confirmed by mistake, or by what fetched links of a former version.
  accepted(await follow(relay, await claimLink(relay, stranger.key, EMAIL)), 200);
  // Anybody may ask for a sign-in link that names the org.
  const magic = await magicLink(relay, EMAIL, { org_id: stranger.orgId });
  for (const headers of PROGRAMS) {
    if (headers["Accept"]?.startsWith("application/json")) continue;
    const fetched = await raw(relay, "GET", magic.path, headers);
    assert.deepEqual([fetched!.status, fetched!.headers.get("content-type")], [
      200,
      "text/html; charset=utf-8",
    ]);
    assert.match(fetched!.body, /Which mail org\?/);
    await raw(relay, "HEAD", magic.path, headers);
  }
  const own = accepted(await follow(relay, await magicLink(relay, EMAIL)), 200);
  assert.notEqual(own.org_id, stranger.orgId);
  assert.deepEqual(own.other_orgs, [stranger.orgId]);
  // A request that names it and asks for JSON opens it.
  assert.equal(accepted(await follow(relay, magic), 200).org_id, stranger.orgId);
});

Deno.test("a POST answers JSON unless Accept names text/html, as JSON and as a form", async () => {
  await using relay = await startMailRelay({ limits: { mailMagicPerEmailPerHour: 100 } });
  const type = "application/x-www-form-urlencoded; charset=utf-8";
  for (const isForm of [true, false]) {
    for (const asPage of [true, false]) {
      const { path, token } = await magicLink(relay, EMAIL);
      const answer = await askMail(relay.url, "POST", path.split("?")[0]!, {
        headers: {
          ...(isForm ? { "Content-Type": type } : {}),
          "User-Agent": "Mozilla/5.0",
          "Sec-Fetch-Mode": "cors",
          Accept: asPage ? "text/html" : "*/*",
        },
        body: isForm ? new URLSearchParams({ token }).toString() : { token },
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type")!.startsWith("text/html"), asPage);
    }
  }
});

Deno.test("OPTIONS of a link is open to scripts, its methods named", async () => {
  await using relay = await startMailRelay();
  const { path } = await magicLink(relay, EMAIL);
  const answer = await askMail(relay.url, "OPTIONS", path, {
    headers: { Origin: "https://x.test" },
  });
  assert.equal(answer.status, 204);
  assert.equal(answer.headers.get("access-control-allow-methods"), answer.headers.get("allow"));
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  accepted(await askMail(relay.url, "GET", path), 200);
});
