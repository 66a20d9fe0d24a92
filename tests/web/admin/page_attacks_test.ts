/** The operator's pages as their attackers meet them: closed, signed in to, forged, guessed, outlived. */
import assert from "node:assert/strict";
import type { Config } from "../../../server/base/config/config.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { makeStoreFolder, startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import {
  assertKeptByNobody,
  isSignedIn,
  signIn,
  type Visit,
  visit,
} from "../../messaging/operator/operator.ts";

const config = { adminToken: ADMIN_TOKEN };
const HOUR_MS = 3_600_000;
const FORMS = ["ban", "unban", "purge", "sign-out"];

Deno.test("/admin without RELAY_ADMIN_TOKEN is a 404 that names the setting, whatever is sent", async () => {
  await using relay = await startTestRelay();
  const cookie = "relay_admin=1.9999999999999.AAAAAAAAAAAAAAAAAAAAAA.x";
  const visits: [string, Visit][] = [
    ["/admin", {}],
    ["/admin", { cookie }],
    ["/admin/bans", { cookie }],
    ["/admin/sign-in", { form: { token: "" } }],
    ["/admin/sign-in", { form: { token: "undefined" } }],
    ...FORMS.map((path): [string, Visit] => [`/admin/${path}`, { form: {}, cookie }]),
  ];
  assert.equal(visits.length, 9);
  for (const [path, options] of visits) {
    const answer = await visit(relay, path, options);
    assert.equal(answer.status, 404, path);
    assert.match(answer.text, /RELAY_ADMIN_TOKEN is unset/);
    assert.equal(answer.headers.get("set-cookie"), null);
  }
});

Deno.test("signing in sets a cookie for scripts and other sites out of reach, that is not the token", async () => {
  await using relay = await startTestRelay({ config });
  const form = await visit(relay, "/admin");
  assert.equal(form.status, 200);
  assert.match(form.text, /<form method="post" action="\/admin\/sign-in">/);
  assert.doesNotMatch(form.text, /sign-out|listening/);
  assertKeptByNobody(form);
  const answer = await visit(relay, "/admin/sign-in", { form: { token: ` ${ADMIN_TOKEN} ` } });
  assertKeptByNobody(answer);
  const cookie = answer.headers.get("set-cookie")!;
  assert.match(
    cookie,
    /^relay_admin=[\w.-]+; Path=\/admin; Max-Age=3600; HttpOnly; SameSite=Strict$/,
  );
  assert.ok(!cookie.includes(ADMIN_TOKEN) && !cookie.includes(btoa(ADMIN_TOKEN)));
  const [sent] = cookie.split(";");
  const page = await visit(relay, "/admin", { cookie: `other=1; ${sent}` });
  assert.equal(page.status, 200);
  assertKeptByNobody(page);
  assert.ok(await isSignedIn(relay, sent));
  for (const secret of [ADMIN_TOKEN, sent!.split("=")[1]!]) {
    assert.ok(!page.text.includes(secret), "no page says it");
    assert.ok(!JSON.stringify(relay.logged).includes(secret), "no log line says it");
  }
});

Deno.test("the cookie is Secure at https, and this machine's plain http alone does without", async () => {
  const baseUrl = "https://relay.test";
  await using relay = await startTestRelay({ config: { ...config, baseUrl } });
  const cookieFrom = async (origin: string) =>
    (await visit(relay, "/admin/sign-in", { origin, form: { token: ADMIN_TOKEN } }))
      .headers.get("set-cookie");
  assert.match((await cookieFrom(baseUrl))!, /; SameSite=Strict; Secure$/);
  assert.match((await cookieFrom(relay.url))!, /; SameSite=Strict$/);
  assert.doesNotMatch((await visit(relay, "/admin")).text, /without TLS/);
  await using plain = await startTestRelay({ config: { ...config, baseUrl: "http://relay.test" } });
  assert.match((await visit(plain, "/admin")).text, /without TLS/);
  const over = await visit(plain, "/admin/sign-in", {
    origin: "http://relay.test",
    form: { token: ADMIN_TOKEN },
  });
  assert.match(over.headers.get("set-cookie")!, /; Secure$/);
});

Deno.test("a wrong token gets the form again and nothing else, and ten of them a wait", async () => {
  await using relay = await startTestRelay({ config });
  const wrong = [
    "",
    ADMIN_TOKEN.slice(1),
    `${ADMIN_TOKEN}x`,
    ADMIN_TOKEN.toUpperCase(),
    "x".repeat(8_000),
    "\u0000",
    "a".repeat(32),
    "b".repeat(32),
    "c".repeat(32),
    "d".repeat(32),
  ].filter((token) => token !== ADMIN_TOKEN);
  assert.equal(wrong.length, 10);
  for (const token of wrong) {
    const answer = await visit(relay, "/admin/sign-in", { form: { token } });
    assert.equal(answer.status, 403, token.slice(0, 40));
    assert.match(answer.text, /This is not the token/);
    assert.equal(answer.headers.get("set-cookie"), null);
    assertKeptByNobody(answer);
  }
  const limited = await visit(relay, "/admin/sign-in", { form: { token: "again" } });
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("retry-after"), "600");
  assert.equal(limited.headers.get("set-cookie"), null);
  // Somebody who guesses behind the operator's own address does not lock the operator out.
  await signIn(relay);
  assert.equal((await visit(relay, "/admin/sign-in", { form: { token: "again" } })).status, 429);
  const logged = JSON.stringify(relay.logged);
  const refused = () =>
    relay.logged.filter(({ event }) => event === "admin_sign_in_refused").length;
  assert.equal(refused(), 1, "crowds are logged sparsely");
  for (const token of wrong.slice(1, 4)) assert.ok(!logged.includes(token));
  relay.clock.advance(600_000);
  await visit(relay, "/admin/sign-in", { form: { token: "again" } });
  assert.equal(refused(), 2);
  await signIn(relay);
});

Deno.test("guesses that come at one time are all counted", async () => {
  await using relay = await startTestRelay({ config });
  const guesses = Array.from({ length: 40 }, (_, i) => `guess ${i} `.padEnd(40, "x"));
  const statuses = (await Promise.all(
    guesses.map((token) => visit(relay, "/admin/sign-in", { form: { token } })),
  )).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 403).length, 10);
  assert.equal(statuses.filter((status) => status === 429).length, 30);
});

Deno.test("another client's guesses do not keep the operator out", async () => {
  await using relay = await startTestRelay({ config: { ...config, trustedProxyHops: 1 } });
  const from = (address: string, token: string) =>
    visit(relay, "/admin/sign-in", { form: { token }, headers: { "X-Forwarded-For": address } });
  const guesser = "2001:db8::1";
  for (let i = 0; i < 10; i++) assert.equal((await from(guesser, "x")).status, 403);
  assert.equal((await from("2001:db8::2", "x")).status, 429, "the same /64");
  assert.equal((await from("2001:db8:1::1", ADMIN_TOKEN)).status, 303);
});

Deno.test("forms are taken from the relay's own origin alone, with a session alone", async () => {
  await using relay = await startTestRelay({ config });
  const [alice] = await registerAgents(relay, "alice");
  const cookie = await signIn(relay);
  const form = { agent: "alice", confirmed: "yes", token: ADMIN_TOKEN };
  const origins = [
    null,
    "null",
    "https://evil.example",
    `${relay.url}.evil.example`,
    "http://127.0.0.1:1",
  ];
  assert.equal(origins.length, 5);
  for (const path of [...FORMS, "sign-in"]) {
    for (const origin of origins) {
      const answer = await visit(relay, `/admin/${path}`, { cookie, origin, form });
      assert.equal(answer.status, 403, `${path} from ${origin}`);
      assert.match(answer.text, /<code>forbidden<\/code>/);
      assert.equal(answer.headers.get("set-cookie"), null);
    }
  }
  for (const path of FORMS) {
    const without = await visit(relay, `/admin/${path}`, { form });
    assert.equal(without.status, 401, path);
    assert.match(without.text, /sign in at \/admin/);
    const got = await visit(relay, `/admin/${path}?agent=alice&confirmed=yes`, { cookie });
    assert.equal(got.status, 405, `GET ${path}`);
  }
  // A token in a header opens the API, and none of the pages.
  const bearer = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  assert.equal((await visit(relay, "/admin/bans", { headers: bearer })).status, 303);
  assert.equal((await visit(relay, "/admin/ban", { form, headers: bearer })).status, 401);
  assert.equal((await alice.send({ to: "alice", body: 1 })).status, 201, "nobody was banned");
  assert.ok(await isSignedIn(relay, cookie), "nobody was signed out");
});

Deno.test("a session ends after an hour, by signing out, and with its token; its cookie is not forged", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const start = (changes: Partial<Config> = {}) =>
    startTestRelay({ kvPath, config: { ...config, ...changes } });
  try {
    let kept: string;
    {
      await using relay = await start();
      kept = await signIn(relay);
      const other = await signIn(relay);
      const out = await visit(relay, "/admin/sign-out", { cookie: other, form: {} });
      assert.equal(out.status, 303);
      assert.match(out.headers.get("set-cookie")!, /^relay_admin=; Path=\/admin; Max-Age=0; /);
      assert.ok(!await isSignedIn(relay, other), "a stolen cookie ends with the session");
      assert.ok(await isSignedIn(relay, kept));
      const changed = kept.slice(0, -2) + (kept.endsWith("AA") ? "BB" : "AA");
      const later = kept.replace(/=1\.(\d+)/, (_, ms) => `=1.${Number(ms) + HOUR_MS}`);
      for (const forged of [changed, later, "relay_admin=", `relay_admin=${ADMIN_TOKEN}`]) {
        assert.ok(!await isSignedIn(relay, forged), forged.slice(0, 30));
      }
      // A cookie that a neighbour's page has set beside it does no harm.
      assert.ok(await isSignedIn(relay, `relay_admin=junk; ${kept}`));
    }
    {
      await using relay = await start();
      assert.ok(await isSignedIn(relay, kept), "a restart keeps it");
      relay.clock.advance(HOUR_MS);
      assert.ok(!await isSignedIn(relay, kept));
    }
    await using relay = await start({ adminToken: "another-token-of-32-characters-or-more" });
    assert.ok(!await isSignedIn(relay, kept), "another token ends it");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a session holds in every process of a shared store, and ends where it is signed out", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const shared = { kvPath, config: { ...config, sharedStore: true } };
  try {
    await using first = await startTestRelay(shared);
    await using second = await startTestRelay(shared);
    const cookie = await signIn(first);
    assert.ok(await isSignedIn(second, cookie));
    await visit(second, "/admin/sign-out", { cookie, form: {} });
    assert.ok(!await isSignedIn(second, cookie));
    assert.ok(
      await isSignedIn(first, cookie),
      "until its hour is over, as docs/operations.md says",
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
