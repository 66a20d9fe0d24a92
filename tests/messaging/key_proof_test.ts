/** POST /v1/register with the signature headers: proof that the caller holds the key. */
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { register, TestAgent, toBytes } from "../support/test_agent.ts";

const MANY = { registrationsPerIpPerHour: 1000 };

Deno.test("register accepts a signature of the key that is registered", async () => {
  await using relay = await startTestRelay();
  const agent = new TestAgent(relay);
  const body = toBytes({ handle: "alice", pubkey: agent.address });
  assertStatus(await register(relay, body, agent.sign("POST", "/v1/register", body)), 201);
});

Deno.test("register refuses a proof in the order form, other key, timestamp, signature", async () => {
  await using relay = await startTestRelay();
  const agent = new TestAgent(relay);
  const other = new TestAgent(relay);
  const body = toBytes({ handle: "alice", pubkey: agent.address });
  const late = relay.clock.seconds() - 301;
  const good = agent.sign("POST", "/v1/register", body);
  const without = (name: string) => {
    const { [name]: _, ...rest } = good;
    return rest;
  };
  const cases: [Record<string, string>, "invalid_signature" | "timestamp_out_of_range", RegExp][] =
    [
      [without("X-Relay-Pubkey"), "invalid_signature", /all three/],
      [without("X-Relay-Timestamp"), "invalid_signature", /all three/],
      [without("X-Relay-Signature"), "invalid_signature", /all three/],
      [{ ...good, "X-Relay-Signature": "AAAA" }, "invalid_signature", /base64/],
      [
        { ...good, "X-Relay-Pubkey": "!", "X-Relay-Signature": "AAAA" },
        "invalid_signature",
        /base64/,
      ],
      [other.sign("POST", "/v1/register", body, late), "invalid_signature", /another key/],
      [{ ...good, "X-Relay-Pubkey": "!" }, "invalid_signature", /another key/],
      [agent.sign("POST", "/v1/register", body, late), "timestamp_out_of_range", /301|300/],
      [{ ...good, "X-Relay-Timestamp": "now" }, "timestamp_out_of_range", /seconds/],
      [agent.sign("POST", "/v1/messages", body), "invalid_signature", /does not verify/],
      [agent.sign("POST", "/v1/register"), "invalid_signature", /does not verify/],
    ];
  for (const [headers, code, message] of cases) {
    assertRefused(await register(relay, body, headers), code, message);
  }
  assertRefused(await agent.call("GET", "/v1/whoami"), "unknown_agent");
});

Deno.test("register ignores X-Relay-Timestamp alone and any Authorization", async () => {
  await using relay = await startTestRelay();
  const headers = { "X-Relay-Timestamp": "yesterday", "Authorization": "Bearer nobody" };
  assertStatus(await new TestAgent(relay).askToRegister({ handle: "alice" }, headers), 201);
});

Deno.test("register demands the proof where RELAY_REQUIRE_KEY_PROOF is set", async () => {
  await using relay = await startTestRelay({ config: { requireKeyProof: true }, limits: MANY });
  const agent = new TestAgent(relay);
  const body = toBytes({ handle: "alice", pubkey: agent.address });
  assertRefused(await register(relay, body), "invalid_signature", /sign/);
  const alone = { "X-Relay-Timestamp": String(relay.clock.seconds()) };
  assertRefused(await register(relay, body, alone), "invalid_signature");
  // The proof stands before the reserved handles and after the key.
  assertRefused(await agent.askToRegister({ handle: "admin" }), "invalid_signature");
  assertRefused(await register(relay, { handle: "admin", pubkey: "!" }), "invalid_pubkey");
  assertStatus(await register(relay, body, agent.sign("POST", "/v1/register", body)), 201);
});

Deno.test("register takes a proof up to 300 s away on both sides", async () => {
  await using relay = await startTestRelay({ limits: MANY });
  for (const [distance, accepted] of [[-300, true], [300, true], [-301, false], [301, false]]) {
    const agent = new TestAgent(relay);
    const body = toBytes({
      handle: `far_${String(distance).replace("-", "m")}`,
      pubkey: agent.address,
    });
    const timestamp = relay.clock.seconds() + Number(distance);
    const answer = await register(relay, body, agent.sign("POST", "/v1/register", body, timestamp));
    if (accepted) assertStatus(answer, 201);
    else assertRefused(answer, "timestamp_out_of_range");
  }
});
