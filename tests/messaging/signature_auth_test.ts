/** Signature authentication: each step, and which one stands first. */
import assert from "node:assert/strict";
import { base64 } from "@scure/base";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent, registerAgents, TestAgent, toBytes } from "../support/test_agent.ts";

/** Every route that takes a signature. */
const ROUTES = [
  ["GET", "/v1/whoami"],
  ["GET", "/v1/inbox"],
  ["GET", "/v1/outbox"],
  ["GET", "/v1/messages/1/signed-request"],
  ["POST", "/v1/messages"],
  ["POST", "/v1/owner-token"],
] as const;

const WELL_FORMED = base64.encode(new Uint8Array(64).fill(7));

Deno.test("every signed route goes through the steps in their order", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const stranger = new TestAgent(relay);
  const now = relay.clock.seconds();
  for (const [method, path] of ROUTES) {
    const refused = async (
      headers: [pubkey: string | null, timestamp: string | null, signature: string | null],
      code: Parameters<typeof assertRefused>[1],
      message: RegExp,
    ) => {
      const names = ["X-Relay-Pubkey", "X-Relay-Timestamp", "X-Relay-Signature"];
      const given = names.flatMap((name, i) => {
        const value = headers[i];
        return value === null || value === undefined ? [] : [[name, value] as const];
      });
      // A wrong signature beats a token that would do.
      given.push(["Authorization", `Bearer ${agent.ownerToken}`]);
      assertRefused(
        await askRaw(relay.port, { method, target: path, headers: given }),
        code,
        message,
      );
    };
    const late = String(now - 301);
    const on = String(now);
    await refused([agent.address, null, null], "invalid_signature", /all three/);
    await refused([null, null, WELL_FORMED], "invalid_signature", /all three/);
    await refused([agent.address, on, null], "invalid_signature", /all three/);
    await refused([null, on, WELL_FORMED], "invalid_signature", /all three/);
    await refused([agent.address, null, WELL_FORMED], "invalid_signature", /all three/);
    await refused(["no key", late, "no signature"], "invalid_signature", /base64/);
    await refused(["no key", late, WELL_FORMED], "unknown_agent", /base58/);
    await refused([stranger.address, late, WELL_FORMED], "timestamp_out_of_range", /300 s/);
    await refused([agent.address, late, WELL_FORMED], "timestamp_out_of_range", /300 s/);
    await refused([stranger.address, on, WELL_FORMED], "unknown_agent", /register/);
    await refused([agent.address, on, WELL_FORMED], "invalid_signature", /does not verify/);
  }
});

Deno.test("a signature header has one form: standard base64 of 64 bytes", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const good = agent.sign("GET", "/v1/whoami");
  const signature = good["X-Relay-Signature"]!;
  assertStatus(await ask(`${relay.url}/v1/whoami`, { headers: good }), 200);
  const bytes = base64.decode(signature);
  for (
    const bad of [
      "",
      signature.slice(0, -2),
      `${signature}=`,
      ` ${signature.slice(1)}`,
      signature.replace("==", "A="),
      `${signature.slice(0, 85)}B==`,
      base64.encode(bytes.subarray(0, 63)),
      base64.encode(new Uint8Array([...bytes, 0])),
      `${signature.slice(0, 84)}-A==`,
      [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
      `${signature}, ${signature}`,
    ]
  ) {
    const answer = await ask(`${relay.url}/v1/whoami`, {
      headers: { ...good, "X-Relay-Signature": bad },
    });
    assertRefused(answer, "invalid_signature", /base64/);
  }
});

Deno.test("headers sent twice fail the pattern of the first step that reads them", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const good = agent.sign("GET", "/v1/whoami");
  const twice = async (name: string) => {
    const headers = Object.entries(good).concat([[name, good[name]!]]);
    return await askRaw(relay.port, { method: "GET", target: "/v1/whoami", headers });
  };
  assertRefused(await twice("X-Relay-Signature"), "invalid_signature");
  assertRefused(await twice("X-Relay-Pubkey"), "unknown_agent");
  assertRefused(await twice("X-Relay-Timestamp"), "timestamp_out_of_range");
});

Deno.test("header names are of any case, header values lose only the space around them", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const headers = Object.entries(agent.sign("GET", "/v1/whoami"))
    .map(([name, value], i) =>
      [i === 0 ? name.toUpperCase() : name.toLowerCase(), `  ${value} \t`] as const
    );
  assertStatus(await askRaw(relay.port, { method: "GET", target: "/v1/whoami", headers }), 200);
});

async function statusAt(relay: TestRelay, agent: TestAgent, timestamp: number): Promise<number> {
  const answer = await agent.call("GET", "/v1/whoami", { timestamp });
  if (answer.status !== 200) assertRefused(answer, "timestamp_out_of_range", /300 s/);
  assert.ok(relay.logged.length === 0);
  return answer.status;
}

Deno.test("a timestamp passes up to 300 s from the server's second, on both sides", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  for (const withinSecondMs of [0, 999]) {
    relay.clock.set(relay.clock.seconds() * 1000 + withinSecondMs);
    const now = relay.clock.seconds();
    assert.equal(await statusAt(relay, agent, now - 300), 200);
    assert.equal(await statusAt(relay, agent, now - 301), 401);
    assert.equal(await statusAt(relay, agent, now + 300), 200);
    assert.equal(await statusAt(relay, agent, now + 301), 401);
  }
});

Deno.test("a timestamp is unix seconds in plain digits", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const good = agent.sign("GET", "/v1/whoami");
  const now = relay.clock.seconds();
  for (
    const timestamp of [
      "",
      `0${now}`,
      `+${now}`,
      `-${now}`,
      `${now}.0`,
      `${now}e0`,
      `0x${now.toString(16)}`,
      `${now} ${now}`,
      "9".repeat(16),
      "NaN",
      "0",
    ]
  ) {
    const headers = { ...good, "X-Relay-Timestamp": timestamp };
    const answer = await ask(`${relay.url}/v1/whoami`, { headers });
    assertRefused(answer, "timestamp_out_of_range", /whole seconds/);
    assert.doesNotMatch(answer.json.error.message, /milliseconds/);
  }
  const headers = { ...good, "X-Relay-Timestamp": String(relay.clock.now()) };
  const answer = await ask(`${relay.url}/v1/whoami`, { headers });
  assertRefused(answer, "timestamp_out_of_range", /milliseconds/);
});

Deno.test("the signature covers method, path without query, raw bytes and timestamp", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const body = toBytes({ to: "bob_1", body: "x" });
  const now = relay.clock.seconds();
  const post = (headers: Record<string, string>, bytes = body) =>
    ask(`${relay.url}/v1/messages`, { method: "POST", headers, body: bytes });
  const wrong = [
    await post(alice.sign("GET", "/v1/messages", body)),
    await post(alice.sign("POST", "/v1/messages/", body)),
    await post(alice.sign("POST", "/v1/inbox", body)),
    await post(alice.sign("POST", "/v1/messages", toBytes({ to: "bob_1", body: "y" }))),
    await post(alice.sign("POST", "/v1/messages", body), toBytes('{"body":"x","to":"bob_1"} ')),
    await post({
      ...alice.sign("POST", "/v1/messages", body, now + 1),
      "X-Relay-Timestamp": String(now),
    }),
    await alice.call("HEAD", "/v1/whoami", { headers: alice.sign("GET", "/v1/whoami") }),
    await alice.call("GET", "/v1/whoami", { headers: alice.sign("HEAD", "/v1/whoami") }),
  ];
  for (const answer of wrong) {
    if (answer.text === "") assert.equal(answer.status, 401); // HEAD
    else assertRefused(answer, "invalid_signature", /does not verify/);
  }
  const withQuery = await alice.call("GET", "/v1/inbox", { query: "since_id=5&x=%zz" });
  assertStatus(withQuery, 200);
  assertStatus(await alice.call("HEAD", "/v1/whoami"), 200);
});

Deno.test("a refused signature names the string that was to be signed", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const headers = agent.sign("GET", "/v1/outbox");
  const { json } = await ask(`${relay.url}/v1/inbox?limit=1`, { headers });
  const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const signed = `relay:v1:GET:/v1/inbox:${empty}:${relay.clock.seconds()}`;
  assert.ok(json.error.message.includes(signed), json.error.message);
});

Deno.test("the body of a GET is ignored, its hash is that of the empty string", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  for (const method of ["GET", "HEAD"]) {
    const answer = await askRaw(relay.port, {
      method,
      target: "/v1/whoami",
      headers: { ...agent.sign(method, "/v1/whoami"), "Content-Encoding": "gzip" },
      body: toBytes("{{{"),
    });
    assert.equal(answer.status, 200);
  }
});

Deno.test("a signed read can be repeated while its timestamp passes", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const timestamp = relay.clock.seconds();
  for (const [aheadMs, status] of [[0, 200], [150_000, 200], [150_999, 200], [1, 401]] as const) {
    relay.clock.advance(aheadMs);
    assertStatus(await agent.call("GET", "/v1/whoami", { timestamp }), status);
  }
});

Deno.test("the size of a body and its encoding are refused before who sent it", async () => {
  await using relay = await startTestRelay();
  for (const path of ["/v1/messages", "/v1/owner-token"]) {
    const url = relay.url + path;
    const bad = { "X-Relay-Signature": "bad" };
    const large = new Uint8Array(262_145);
    assertRefused(
      await ask(url, { method: "POST", headers: bad, body: large }),
      "payload_too_large",
    );
    const headers = { ...bad, "Content-Encoding": "br" };
    assertRefused(
      await ask(url, { method: "POST", headers, body: "x" }),
      "invalid_json",
      /Content-Encoding/,
    );
  }
});

Deno.test("who sent a request is refused before its query, its limit and its object", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  assertStatus(await agent.poll(), 200);
  const bad = { headers: { "X-Relay-Signature": "bad" } };
  for (const path of ["/v1/inbox?limit=x", "/v1/outbox?limit=x", "/v1/messages/x/signed-request"]) {
    assertRefused(await ask(relay.url + path, bad), "invalid_signature");
  }
  assertRefused(await agent.poll("limit=x"), "invalid_json", /limit/);
  assertRefused(await agent.poll(), "rate_limited");
});
