/** Google's way into the mailbox: tied to the browser that asked. */
import assert from "node:assert/strict";
import { startGoogleIssuer, startGoogleRelay } from "../../support/google_issuer.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { BrowserSession, isOpen } from "./browser_session.ts";

const PATH = "/mail/sign-in/google";

Deno.test("Google's answer opens the mailbox in the browser that asked, once for its nonce", async () => {
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer);
  const browser = new BrowserSession(relay.url);
  assert.match((await browser.get("/mail")).text, /href="\/mail\/sign-in\/google"/);
  const asked = await browser.get(PATH);
  const to = new URL(asked.location!);
  assert.equal(to.origin + to.pathname, "https://accounts.google.com/o/oauth2/v2/auth");
  assert.deepEqual(
    ["response_type", "response_mode", "redirect_uri"].map((name) => to.searchParams.get(name)),
    ["id_token", "form_post", `${relay.url}${PATH}`],
  );
  assert.match(
    asked.headers.get("set-cookie")!,
    /^__Host-relay_google=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=None$/,
  );
  const nonce = to.searchParams.get("nonce")!;
  const elsewhere = { Origin: "https://accounts.google.com", "Sec-Fetch-Site": "cross-site" };
  const id_token = await issuer.token(relay.clock.now(), { nonce });

  // A thief's token in somebody else's browser, and a token without or with another nonce.
  for (
    const given of [{ id_token, cookie: "" }, {
      id_token: await issuer.token(relay.clock.now()),
      cookie: browser.cookie,
    }]
  ) {
    const other = new BrowserSession(relay.url);
    other.cookie = given.cookie;
    const refused = await other.post(PATH, { id_token: given.id_token }, elsewhere);
    assert.equal(refused.status, 403);
    assert.equal(refused.headers.get("set-cookie"), null);
  }
  const forged = `${id_token.split(".").slice(0, 2).join(".")}.AAAA`;
  assert.equal((await browser.post(PATH, { id_token: forged }, elsewhere)).status, 401);

  const opened = await browser.post(PATH, { id_token }, elsewhere);
  assert.deepEqual([opened.status, opened.location], [303, "/mail"]);
  assert.ok(await isOpen(browser));
  assert.match((await browser.get("/mail/org")).text, /ada@example\.org/);
});

Deno.test("without a client id there is no button, and both of Google's routes are 503", async () => {
  await using relay = await startMailRelay();
  const browser = new BrowserSession(relay.url);
  assert.doesNotMatch((await browser.get("/mail")).text, /Google/);
  assert.equal((await browser.get(PATH)).status, 503);
  assert.equal((await browser.post(PATH, { id_token: "x" })).status, 503);
});
