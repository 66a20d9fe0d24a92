/** An identity that a stranger attached, and the former owner who undoes it. */
import assert from "node:assert/strict";
import { googleKey } from "../../../server/mail/records/google_record.ts";
import { startGoogleIssuer, startGoogleRelay } from "../../support/google_issuer.ts";
import { follow, linkMails, magicLink } from "../../support/mail_links.ts";
import { askMail } from "../../support/mail_relay.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { listRows } from "../../support/store_rows.ts";
import { attach, signedIn } from "./google_calls.ts";

const OWNER = "owner@example.org";

Deno.test("who attaches a stranger's identity to a verified org is undone by its owner's link", async () => {
  using kv = await openMemoryKv();
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer, { deps: { kv } });
  const made = (await follow(relay, await magicLink(relay, OWNER))).body;
  relay.clock.advance(1_000);
  const token = () => issuer.token(relay.clock.now(), { sub: "thief", email: "thief@example.com" });
  const attached = await attach(relay, made.api_key, await token());
  assert.deepEqual([attached.status, attached.body.google_email], [200, "thief@example.com"]);
  relay.clock.advance(1_000);
  const thief = await signedIn(relay, await token());
  assert.equal(thief.org_id, made.org_id);

  const [restore] = await linkMails(relay, OWNER);
  const restored = await follow(relay, restore!);
  assert.equal(restored.status, 200, JSON.stringify(restored.body));
  assert.deepEqual(
    [restored.body.verified_email, restored.body.google_email],
    [OWNER, null],
  );
  const key = thief.api_key;
  assert.equal((await askMail(relay.url, "GET", "/v1/mail/org", { key })).status, 401);
  assert.equal((await kv.get(googleKey("thief"))).value, null);
  // The identity opens an org of its own from now on.
  relay.clock.advance(1_000);
  assert.notEqual((await signedIn(relay, await token())).org_id, made.org_id);
});

Deno.test("an owner's own identity comes back with the address, unless it has another org by then", async () => {
  for (const moved of [false, true]) {
    using kv = await openMemoryKv();
    await using issuer = await startGoogleIssuer();
    await using relay = await startGoogleRelay(issuer, { deps: { kv } });
    const own = () => issuer.token(relay.clock.now(), { sub: "ada", email: "ada@example.org" });
    const { org_id, api_key: key } = await signedIn(relay, await own());
    relay.clock.advance(1_000);
    // A leaked key names another owner, who unlinks the identity.
    const claim = { key, body: { email: "thief@example.com" } };
    assert.equal((await askMail(relay.url, "POST", "/v1/mail/org/claim", claim)).status, 202);
    const [claimed] = await linkMails(relay, "thief@example.com");
    assert.equal((await follow(relay, claimed!)).status, 200);
    assert.equal((await askMail(relay.url, "DELETE", "/v1/mail/org/google", { key })).status, 204);
    relay.clock.advance(1_000);
    const other = moved ? await signedIn(relay, await own()) : null;

    const restored = await follow(relay, (await linkMails(relay, "ada@example.org"))[0]!);
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    assert.equal(restored.body.verified_email, "ada@example.org");
    assert.equal(restored.body.google_email, moved ? null : "ada@example.org");
    relay.clock.advance(1_000);
    assert.equal((await signedIn(relay, await own())).org_id, moved ? other!.org_id : org_id);
  }
});

Deno.test("nothing of a verified org is left by its erasure but its addresses and links that end", async () => {
  using kv = await openMemoryKv();
  await using issuer = await startGoogleIssuer();
  await using relay = await startGoogleRelay(issuer, { deps: { kv } });
  const { org_id, api_key: key } = await signedIn(
    relay,
    await issuer.token(relay.clock.now(), { sub: "ada", email: "ada@example.org" }),
  );
  const body = { org_id };
  assert.equal((await askMail(relay.url, "DELETE", "/v1/mail/org", { key, body })).status, 204);
  await relay.relay.crons.figures!();
  const rows = (await listRows(kv)).filter((row) => row.includes(org_id));
  assert.deepEqual(rows, []);
});
