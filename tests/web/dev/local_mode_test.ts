/** Local mode inside the test's own process: sent mail is captured, and nobody else sees it. */
import assert from "node:assert/strict";
import { ConfigError, parseConfig } from "../../../server/base/config/config.ts";
import { type Answer, ask, assertRefused } from "../../support/answer.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { exchange } from "../../support/raw_http.ts";
import { makeStoreFolder, startTestRelay, type TestRelay } from "../../support/relay.ts";
import { newOrg } from "../../support/mail_caller.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { HOUR_MS, setEmail } from "../../messaging/digest/digest_bench.ts";

const HTML = { headers: { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

/** Registers an agent that has a message waiting, and lets the digest cron tell it. */
async function sendDigest(relay: TestRelay, handle: string, email: string): Promise<void> {
  const agent = await registerAgent(relay, handle);
  await setEmail(agent, email);
  relay.clock.advance(1);
  await agent.sent({ to: handle, body: "hello" });
  await relay.relay.crons.digest!();
}

// deno-lint-ignore no-explicit-any -- JSON whose shape the test at hand asserts
async function captured({ url }: TestRelay): Promise<any[]> {
  const { status, json } = await ask(`${url}/dev/mail`);
  assert.equal(status, 200);
  return json.data;
}

Deno.test("a digest of the messaging half is captured, shown, and its links work", async () => {
  await using relay = await startMailRelay();
  await sendDigest(relay, "bob", "bob@example.net");
  const [row, ...others] = await captured(relay);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [row.n, row.at, row.envelope, row.result, row.subject, row.codes],
    [
      1,
      new Date(relay.clock.now()).toISOString(),
      { from: "relay@relay.test", to: ["bob@example.net"] },
      "sent",
      "1 unread message",
      [],
    ],
  );
  const detail = await ask(`${relay.url}/dev/mail/1`);
  assert.equal(detail.json.to, "bob@example.net");
  assert.match(detail.json.text, /^1 unread message for @bob, from:/);
  assert.equal(detail.json.has_html, true);
  const raw = await ask(`${relay.url}/dev/mail/1/raw`);
  assert.equal(raw.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(raw.text.length, row.size);
  assert.match(raw.text, /^List-Unsubscribe: </m);

  for (const path of ["/dev/mail", "/dev/mail/1"]) {
    const page = await ask(relay.url + path, HTML);
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(page.text, /bob@example\.net/);
    for (const link of row.links) assert.ok(page.text.includes(`href="${link}"`), link);
  }
  const unsubscribe = row.links.find((link: string) => link.includes("/unsubscribe?token="));
  assert.match((await ask(unsubscribe)).text, /No more unread digests/);
  relay.clock.advance(7 * HOUR_MS);
  const again = await registerAgent(relay, "alice");
  await again.sent({ to: "bob", body: "are you there?" });
  await relay.relay.crons.digest!();
  assert.equal((await captured(relay)).length, 1, "bob is told of nothing more");
});

Deno.test("recipients at bounce.test, defer.test and unknown.test meet what they are named after", async () => {
  await using relay = await startMailRelay();
  await sendDigest(relay, "bounced", "bob@bounce.test");
  await sendDigest(relay, "deferred", "bob@defer.test");
  await sendDigest(relay, "unclear", "bob@unknown.test");
  const told = (event: string) =>
    relay.logged.filter((line) => line.event === event).map(({ fields }) => fields.reason);
  assert.deepEqual(told("outgoing_retry"), ["550 5.1.1 at RCPT TO", "451 at RCPT TO"]);
  assert.deepEqual(told("outgoing_given_up"), ["unknown: no reply at DATA"]);
  const rows = await captured(relay);
  assert.deepEqual(rows.map(({ envelope, result }) => [envelope.to[0], result]), [
    ["bob@unknown.test", "unknown"],
  ]);
  const page = await ask(`${relay.url}/dev/mail/1`, HTML);
  assert.match(page.text, /The next hop said: taken without a reply/);
  const failed = await ask(`${relay.url}/dev/mail?view=failed`, HTML);
  for (const [to, chip] of [["bounced", "refused"], ["deferred", "deferred"]]) {
    assert.match(
      failed.text,
      RegExp(`bob@${to!.slice(0, 5)}[^]*?<span class="chip (?:bad|warn)">${chip}<`),
    );
  }
});

Deno.test("captured mail has its own paths, methods and headers", async () => {
  await using relay = await startMailRelay();
  const list = `${relay.url}/dev/mail`;
  assert.deepEqual((await ask(list)).json, { data: [], next_cursor: null });
  assert.match((await ask(list, HTML)).text, /What this relay sends will be a line here/);
  for (const init of [{}, HTML]) {
    const { headers } = await ask(list, init);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("vary"), "Accept");
    assert.equal(headers.get("access-control-allow-origin"), null);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
  }
  const { headers } = await ask(list, HTML);
  assert.match(
    headers.get("content-security-policy")!,
    /^default-src 'none'; style-src 'self'; script-src 'self';.* frame-ancestors 'none'$/,
  );
  for (const n of ["1", "0", "01", "-1", "1e3", "x", "9".repeat(30), "%31"]) {
    assertRefused(await ask(`${list}/${n}`), "not_found");
    assertRefused(await ask(`${list}/${n}/raw`), "not_found");
  }
  for (const path of ["/dev", "/dev/", "/dev/mail/", "/dev/mails"]) {
    assertRefused(await ask(relay.url + path), "not_found");
  }
  assertRefused(await ask(list, { method: "DELETE" }), "method_not_allowed");
  const options = await ask(list, { method: "OPTIONS", headers: { Origin: "http://x.test" } });
  assert.deepEqual(
    [options.status, options.headers.get("access-control-allow-origin")],
    [204, null],
  );
});

Deno.test("captured mail is given to this machine's own names and pages, never through a proxy", async () => {
  await using relay = await startMailRelay();
  const get = (headers: string) =>
    exchange(relay.port, `GET /dev/mail HTTP/1.1\r\n${headers}\r\n\r\n`);
  const own = `Host: localhost:${relay.port}`;
  for (
    const headers of [
      own,
      "Host: 127.0.0.1",
      "Host: [::1]:80",
      `${own}\r\nOrigin: http://localhost:${relay.port}`,
    ]
  ) assert.equal((await get(headers))!.status, 200, headers);
  for (
    const headers of [
      "Host: relay.example",
      "Host: rebound.localhost.example:8000",
      `${own}\r\nOrigin: http://evil.example`,
      `${own}\r\nOrigin: null`,
      `${own}\r\nOrigin: http://localhost:1`,
      `${own}\r\nX-Forwarded-For: 127.0.0.1`,
      `${own}\r\nForwarded: for=127.0.0.1`,
      `${own}\r\nx-real-ip: 127.0.0.1`,
      `${own}\r\nVia: 1.1 proxy`,
      `${own}\r\nCF-Connecting-IP: 127.0.0.1`,
    ]
  ) {
    const answer = await get(headers);
    assert.equal(answer!.status, 403, headers);
    assert.equal(JSON.parse(answer!.body).error.code, "forbidden");
  }
  const written = await ask(`${relay.url}/dev/mail`, {
    method: "POST",
    headers: { "X-Forwarded-For": "10.0.0.1" },
    body: "{",
  });
  assertRefused(written, "forbidden");
});

Deno.test("what is handed in is checked before anything takes it", async () => {
  await using relay = await startMailRelay();
  await sendDigest(relay, "bob", "bob@example.net");
  const post = (path: string, body: unknown): Promise<Answer> =>
    ask(`${relay.url}/dev/mail${path}`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const mail = { from: "a@x.test", to: "bob@agents.test", subject: "hi", text: "hello" };
  assertRefused(await post("", mail), "not_found", /no inbox of this name/);
  for (const field of Object.keys(mail)) {
    for (const value of [null, 7, "a b@x", "a\nb", undefined, `"a"@x.test`, "<a>@x.test"]) {
      const isLine = typeof value === "string" && value !== "a\nb";
      if (field === "text" && typeof value === "string") continue;
      if (field === "subject" && isLine) continue;
      assertRefused(await post("", { ...mail, [field]: value }), "invalid_json", RegExp(field));
    }
  }
  for (const body of ["", "{", "[]", { as: "bounced" }, { as: ["reply"] }, {}]) {
    assertRefused(await post("/1/answer", body), "invalid_json");
  }
  assertRefused(await post("/1/answer", { as: "reply", text: 7 }), "invalid_json", /text must be/);
  assertRefused(await post("/2/answer", "{"), "not_found");
  assertRefused(await post("", { ...mail, text: "x".repeat(300_000) }), "payload_too_large");
});

Deno.test("what comes for the inboxes is captured too, by whatever way, with who has it", async () => {
  await using relay = await startMailRelay();
  const inbox = await (await newOrg(relay)).inbox();
  const handIn = (to: string, subject: string) =>
    ask(`${relay.url}/dev/mail`, {
      method: "POST",
      body: JSON.stringify({ from: "ann@example.org", to, subject, text: "Hello." }),
    });
  assert.equal((await handIn(inbox.address, "For the inbox")).status, 200);
  assert.equal((await handIn("nobody@agents.test", "For nobody")).status, 404);
  const page = async (path: string) => (await ask(`${relay.url}/dev/mail${path}`, HTML)).text;
  const listed = async (path: string) =>
    [...(await page(path)).matchAll(
      /href="\/dev\/mail\/([a-z0-9]+)[^]*?class="subject"><bdi>([^<]*)/g,
    )]
      .map(([, key, subject]) => [key, subject]);
  await settled(async () => (await listed("")).length === 2);
  const rows = await listed("");
  assert.deepEqual(rows.map(([, subject]) => subject).toSorted(), ["For nobody", "For the inbox"]);
  assert.deepEqual((await listed("?view=received")).map(([, subject]) => subject), [
    "For the inbox",
  ]);
  assert.deepEqual((await listed("?view=failed")).map(([, subject]) => subject), ["For nobody"]);
  assert.deepEqual((await listed("?q=ANN+nobody")).map(([, subject]) => subject), ["For nobody"]);
  const [key] = rows.find(([, subject]) => subject === "For nobody")!;
  assert.match(await page(`/${key}`), /nobody took it[^]*The relay said: not_found/);
  assert.doesNotMatch(await page(`/${key}`), /\/answer"/);
  const answer = await ask(`${relay.url}/dev/mail/${key}/answer`, {
    method: "POST",
    body: JSON.stringify({ as: "bounce" }),
  });
  assertRefused(answer, "not_found", /this mail came in/);
  assert.deepEqual(await captured(relay), [], "programs are told of what was sent, as ever");
  for (let i = 0; i < 21; i++) {
    const asked = fetch(`${relay.url}/dev/live`, {
      method: "HEAD",
      signal: AbortSignal.timeout(10_000),
    });
    assert.equal((await asked).status, 200, "HEAD opens no stream");
  }
  const stream = await fetch(`${relay.url}/dev/live`);
  assert.equal(stream.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const events = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  await handIn(inbox.address, "Again");
  let said = "";
  while (!said.includes("event: message")) said += (await events.read()).value;
  await events.cancel();
});

/** Waits for what follows an answer in the background. */
async function settled(isSo: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 200 && !await isSo(); i++) {
    await new Promise((resolve) => setTimeout(resolve));
  }
}

Deno.test("in every other mode /dev/mail is unknown, mail on or off", async () => {
  const on = parseConfig({
    RELAY_SMTP_URL: "smtp://127.0.0.1:1",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
  }).mail;
  for (const config of [{}, { mail: on }]) {
    await using relay = await startTestRelay({ config });
    assert.equal(relay.relay.mailOn, "mail" in config);
    for (
      const path of [
        "/dev",
        "/dev/mail",
        "/dev/mail/1",
        "/dev/mail/1/raw",
        "/dev/mail/1/answer",
        "/dev/mail/1/html",
        "/dev/live",
      ]
    ) {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        assertRefused(await ask(relay.url + path, { method }), "not_found");
      }
    }
  }
});

Deno.test("a store made in local mode opens in no other, and no other store in local mode", async () => {
  const real = parseConfig({
    RELAY_SMTP_URL: "smtp://127.0.0.1:1",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "agents.test",
  }).mail;
  const local = parseConfig({ RELAY_MAIL_DEV: "true" }).mail;
  const off = parseConfig({}).mail;
  type Mail = typeof real;
  async function opens(
    kvPath: string,
    dataDir: string,
    mail: Mail,
    use?: (r: TestRelay) => Promise<unknown>,
  ) {
    await using relay = await startTestRelay({ kvPath, config: { mail, dataDir } });
    await use?.(relay);
  }
  const refused = (kvPath: string, dataDir: string, mail: Mail, variable: string) =>
    assert.rejects(opens(kvPath, dataDir, mail), (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.equal(error.variable, variable);
      return true;
    });

  const register = (relay: TestRelay) => registerAgent(relay, "bob");
  const makeInbox = async (relay: TestRelay) => (await newOrg(relay)).inbox();
  const made: [Mail, Mail[], string, ((relay: TestRelay) => Promise<unknown>)?][] = [
    [local, [real, off], "RELAY_MAIL_DEV"],
    [real, [local], "RELAY_MAIL_DEV"],
    // Mail was never on, but there are agents, whose digests would go nowhere.
    [off, [local], "RELAY_MAIL_DEV", register],
    // Until an address is given out the domain may change (store_domain_test.ts).
    [local, [{ ...local, domain: "other.test" }], "RELAY_MAIL_DOMAIN", makeInbox],
  ];
  for (const [first, others, variable, use] of made) {
    const { dir, kvPath } = await makeStoreFolder();
    try {
      await opens(kvPath, dir, first, use);
      for (const other of others) await refused(kvPath, dir, other, variable);
      await opens(kvPath, dir, first);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  }
});
