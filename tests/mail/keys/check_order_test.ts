/** Which refusal comes first on mail routes (docs/api.md, "The mail area"). */
import assert from "node:assert/strict";
import { generateKeyPair } from "../../../toolkit/generate_key_pair.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../../support/mail_relay.ts";
import { startMailStore, verifyOrg } from "../../support/mail_store.ts";
import { askRaw } from "../../support/raw_request.ts";

const LARGE = "x".repeat(256 * 1024 + 1);
const UNKNOWN_KEY = `rm_sk_${"a".repeat(43)}`;
const UNKNOWN_INBOX = "ibx_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** Routes that read a body, and those that name an object. */
const WITH_BODY = [
  ["DELETE", "/v1/mail/org"],
  ["POST", "/v1/mail/inboxes"],
  ["PATCH", `/v1/mail/inboxes/{inbox}`],
  ["POST", "/v1/mail/api-keys"],
] as const;
const WITHOUT_BODY = [
  ["GET", "/v1/mail/org"],
  ["GET", "/v1/mail/inboxes"],
  ["GET", "/v1/mail/inboxes/{inbox}"],
  ["DELETE", "/v1/mail/inboxes/{inbox}"],
  ["GET", "/v1/mail/api-keys"],
  ["GET", "/v1/mail/api-keys/{key}"],
  ["DELETE", "/v1/mail/api-keys/{key}"],
] as const;
const ROUTES = [...WITH_BODY, ...WITHOUT_BODY];

/** Bodies that are wrong, the one found first in front. */
const BAD_BODIES: [
  body: string,
  headers: Record<string, string>,
  code: "payload_too_large" | "invalid_json",
][] = [
  [LARGE, {}, "payload_too_large"],
  ["{}", { "Content-Encoding": "gzip" }, "invalid_json"],
  ["{", {}, "invalid_json"],
  ["", {}, "invalid_json"],
  ["[]", {}, "invalid_json"],
  ["null", {}, "invalid_json"],
  ['{"name":"a","name":"b"}', {}, "invalid_json"],
  ['{"name":"\\ud800"}', {}, "invalid_json"],
  ['{"name":1e400}', {}, "invalid_json"],
  ['\ufeff{"name":"a"}', {}, "invalid_json"],
  [`{"name":${"[".repeat(65)}${"]".repeat(65)}}`, {}, "invalid_json"],
];

const fill = (path: string, inbox = UNKNOWN_INBOX, key = "key_1") =>
  path.replace("{inbox}", inbox).replace("{key}", key);

Deno.test("the key comes before everything else: missing_token, unknown_key, each with WWW-Authenticate", async () => {
  await using relay = await startMailRelay();
  const { orgId, key } = await newOrg(relay);
  const credentials: [string | undefined, "missing_token" | "unknown_key"][] = [
    [undefined, "missing_token"],
    ["", "missing_token"],
    ["Bearer", "missing_token"],
    ["Bearer ", "missing_token"],
    [`Basic ${key}`, "missing_token"],
    [key, "missing_token"],
    [`Bearer\t${key}`, "missing_token"],
    [`Bearer  ${key}`, "unknown_key"],
    [`Bearer ${UNKNOWN_KEY}`, "unknown_key"],
    [`Bearer ${key}x`, "unknown_key"],
    [`Bearer ${key.slice(0, -1)}`, "unknown_key"],
    [`Bearer ${key.toUpperCase()}`, "unknown_key"],
    [`Bearer ${key}, Bearer ${key}`, "unknown_key"],
    ["Bearer rt_owner_x", "unknown_key"],
    [`Bearer ${orgId}`, "unknown_key"],
    [`Bearer ${"x".repeat(4000)}`, "unknown_key"],
  ];
  for (const [method, path] of ROUTES) {
    for (const [Authorization, code] of credentials) {
      const headers: Record<string, string> = { "Content-Encoding": "gzip" };
      if (Authorization !== undefined) headers.Authorization = Authorization;
      const body = method === "GET" ? {} : { body: LARGE };
      const answer = await askMail(relay.url, method, fill(path), { headers, ...body });
      assertMailRefused(answer, code);
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
      assert.ok(!JSON.stringify(answer.body).includes(key.slice(6)));
    }
  }
  const lower = await askMail(relay.url, "GET", "/v1/mail/org", {
    headers: { Authorization: `bEARER ${key}` },
  });
  accepted(lower, 200);
});

Deno.test("a header sent twice is no key", async () => {
  await using relay = await startMailRelay();
  const { key } = await newOrg(relay);
  const answer = await askRaw(relay.port, {
    method: "GET",
    target: "/v1/mail/org",
    headers: [["Authorization", `Bearer ${key}`], ["Authorization", `Bearer ${key}`]],
  });
  assert.deepEqual([answer.status, answer.json.error.code], [401, "unknown_key"]);
});

Deno.test("state before permission before object before body, whatever is wrong behind", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const owner = await newOrg(relay);
  const inbox = await owner.inbox();
  const reader = owner.with(
    (await owner.newKey({ name: "r", permissions: ["inbox:read"] })).api_key,
  );
  for (const [method, path] of WITH_BODY) {
    assertMailRefused(
      await reader.ask(method, fill(path), { body: LARGE }),
      "insufficient_permission",
    );
    for (const [body, headers, code] of BAD_BODIES) {
      if (path.includes("{inbox}")) {
        assertMailRefused(await owner.ask(method, fill(path), { body, headers }), "not_found");
      }
      const answer = await owner.ask(method, fill(path, inbox.id), { body, headers });
      assertMailRefused(answer, code);
    }
  }
  relay.clock.advance(24 * 3_600_000);
  for (const [method, path] of WITH_BODY) {
    for (const holder of [reader, owner]) {
      const answer = await holder.ask(method, fill(path), { body: LARGE });
      assertMailRefused(answer, "trial_expired");
    }
  }
  await verifyOrg(kv, owner.orgId, relay.clock.now());
  accepted(await owner.readOrg(), 200);
});

Deno.test("400 comes before what the commit finds: reserved, full, taken", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  await owner.inbox({ local_part: "bob" });
  assertMailRefused(
    await owner.createInbox({ local_part: "postmaster", send_policy: "x" }),
    "invalid_json",
  );
  assertMailRefused(await owner.createInbox({ local_part: "postmaster" }), "reserved_local_part");
  assertMailRefused(await owner.createInbox({ local_part: "bob" }), "inbox_limit_reached");
});

Deno.test("registration: 413, 400 by field, invalid_pubkey, timestamp, signature, 429, then 409", async () => {
  await using relay = await startMailRelay({ limits: { mailRegistrationsPerIpPerHour: 1 } });
  const keys = generateKeyPair();
  const good = signRegistration(relay.clock.now(), keys);
  const register = (body: unknown, headers = {}) =>
    askMail(relay.url, "POST", "/v1/mail/agents/register", { body, headers });
  const stale = { ...good, timestamp: relay.clock.seconds() - 301 };
  const badKey = { ...stale, public_key: keys.address.slice(0, 40), signature: "x" };
  for (const [body, headers, code] of BAD_BODIES) {
    assertMailRefused(await register(body, headers), code);
  }
  assertMailRefused(await register({ ...badKey, label: 1 }), "invalid_json", /label/);
  assertMailRefused(await register(badKey), "invalid_pubkey");
  for (const timestamp of [stale.timestamp, relay.clock.seconds() + 301, -1, 2 ** 53 - 1]) {
    const answer = await register({ ...good, timestamp, signature: "x" });
    assertMailRefused(answer, "timestamp_out_of_range");
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
  }
  const millis = await register({ ...good, timestamp: relay.clock.now() });
  assertMailRefused(millis, "timestamp_out_of_range", /milliseconds/);
  assertMailRefused(await register({ ...good, signature: "x" }), "invalid_signature");
  accepted(await register(good), 201);
  const full = await register(good);
  assertMailRefused(full, "rate_limited");
  assert.equal(full.headers.get("retry-after"), "3600");
  assert.equal(full.body.retry_after_ms, 3_600_000);
  relay.clock.advance(3_600_000);
  assertMailRefused(await register(signRegistration(relay.clock.now(), keys)), "handle_taken");
});

Deno.test("a registration's signature holds for its key and its time alone", async () => {
  await using relay = await startMailRelay();
  const keys = generateKeyPair();
  const good = signRegistration(relay.clock.now(), keys) as Record<string, string | number>;
  const signature = good.signature as string;
  const flipped = (signature[0] === "A" ? "B" : "A") + signature.slice(1);
  const altered = [
    { ...good, timestamp: (good.timestamp as number) + 1 },
    { ...good, public_key: generateKeyPair().address },
    { ...good, signature: flipped },
    { ...good, signature: signature.slice(0, -1) },
    { ...good, signature: signature.replace(/=+$/, "") },
    { ...good, signature: `${signature} ` },
    { ...good, signature: "" },
    { ...good, signature: "A".repeat(86) + "==" },
  ];
  for (const body of altered) {
    const answer = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
    assertMailRefused(answer, "invalid_signature");
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    assert.ok(!answer.body.error.message.includes(signature.slice(0, 20)));
  }
  accepted(await askMail(relay.url, "POST", "/v1/mail/agents/register", { body: good }), 201);
});

Deno.test("a timestamp is accepted 300 seconds away from the clock, both ways", async () => {
  await using relay = await startMailRelay();
  for (const offset of [-300, 300]) {
    const body = signRegistration(relay.clock.now() + offset * 1000);
    accepted(await askMail(relay.url, "POST", "/v1/mail/agents/register", { body }), 201);
  }
});

Deno.test("a body of exactly 256 KiB is read, one byte more is 413 and closes the connection", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const padded = (sizeBytes: number) => {
    const body = '{"local_part":"bob","unknown":""}';
    return body.replace('""', `"${"x".repeat(sizeBytes - body.length)}"`);
  };
  const headers = { Authorization: `Bearer ${owner.key}` };
  const ask = (sizeBytes: number) =>
    askRaw(relay.port, {
      method: "POST",
      target: "/v1/mail/inboxes",
      headers,
      body: new TextEncoder().encode(padded(sizeBytes)),
    });
  const over = await ask(256 * 1024 + 1);
  assert.deepEqual([over.status, over.json.error.code], [413, "payload_too_large"]);
  const exact = await ask(256 * 1024);
  assert.equal(exact.status, 201);
});
