/** Whatever JSON is sent, the recipient gets it, with its hash, and can bind it to its signature. */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  canonicalJson,
  contentHash,
  type JsonValue,
  parseStrict,
  verifyMessage,
} from "../../toolkit/mod.ts";
import { assertStatus } from "../support/answer.ts";
import { seededRandom } from "../support/fake_kv.ts";
import { isLong } from "../support/long_test.ts";
import { writeLoosely } from "../support/loose_json.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents, type TestAgent } from "../support/test_agent.ts";

const LIMITS = { sendsPerAgentPerMinute: 100_000, inboxPollIntervalMs: 0 };

/** Numbers that strict JSON takes. */
const numbers = fc.double({ noNaN: true, noDefaultInfinity: true })
  .filter((value) =>
    !(Number.isInteger(value) && Math.abs(value) >= 2 ** 53 && Math.abs(value) < 1e21)
  );
const texts = fc.string({ unit: "binary", maxLength: 12 }).filter((text) => text.isWellFormed());
const names = fc.oneof(
  texts,
  fc.constantFrom("__proto__", "constructor", "toString", "to", "body", ""),
);

const { value: bodies } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.oneof(fc.constant(null), fc.boolean(), numbers, fc.maxSafeInteger(), texts),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.uniqueArray(fc.tuple(names, tie("value")), { maxLength: 5, selector: ([name]) => name })
      .map((members) =>
        JSON.parse(
          `{${members.map(([n, v]) => `${JSON.stringify(n)}:${JSON.stringify(v)}`).join()}}`,
        )
      ),
  ),
}));

const messages = fc.record({
  body: bodies,
  json: fc.boolean(),
  inReplyTo: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), { nil: undefined }),
  form: fc.constantFrom("address", "wordName", "handle", "atHandle"),
  nulls: fc.boolean(),
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
});
type Message = typeof messages extends fc.Arbitrary<infer T> ? T : never;

function requestOf(message: Message, bob: TestAgent, inner: string): Record<string, JsonValue> {
  const { body, json, inReplyTo, form, nulls } = message;
  const to = form === "atHandle"
    ? `@${bob.handle}`
    : bob[form as "address" | "wordName" | "handle"];
  return {
    to,
    body: json ? inner : body,
    ...(json ? { content_type: "json" } : nulls ? { content_type: null } : {}),
    ...(inReplyTo === undefined ? nulls ? { in_reply_to: null } : {} : { in_reply_to: inReplyTo }),
  };
}

async function exchange(bob: TestAgent, relay: TestRelay, id: number) {
  relay.clock.advance(1);
  const answer = await bob.poll(`since_id=${id - 1}&limit=1`);
  assertStatus(answer, 200);
  // The strict parser refuses the answer wherever languages would read it differently.
  const { messages: [received] } = parseStrict(answer.text, { maxDepth: 70 }) as {
    messages: Record<string, JsonValue>[];
  };
  return received!;
}

function assertCarried(received: Record<string, JsonValue>, message: Message): void {
  const { body, json, inReplyTo } = message;
  assert.equal(canonicalJson(received["body"]!), canonicalJson(body));
  assert.equal(received["content_hash"], contentHash(body));
  assert.equal(received["content_type"], json ? "json" : "text");
  assert.equal(received["in_reply_to"], inReplyTo ?? null);
}

Deno.test("any JSON sent as RFC 8785 bytes is bound by the recipient alone", async () => {
  await using relay = await startTestRelay({ limits: LIMITS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const { address, handle, wordName } = bob;
  await fc.assert(
    fc.asyncProperty(messages, async (message) => {
      const id = await alice.sent(requestOf(message, bob, canonicalJson(message.body)));
      const received = await exchange(bob, relay, id);
      assertCarried(received, message);
      const report = await verifyMessage(received, {
        recipient: { address, handle, wordName },
        from: alice.address,
        maxSkewSeconds: 300,
      });
      assert.deepEqual({ ...report, age: report.age.within }, {
        canonicalString: "ok",
        signature: "valid",
        sender: "pinned",
        contentHash: "match",
        body: "bound",
        addressee: { address: "key", wordName: "word-name" }[message.form as string] ?? "handle",
        age: true,
      });
    }),
    propertyRuns(isLong ? 150 : 50),
  );
});

Deno.test("any JSON in any bytes is carried, hashed alike and bound by its signed request", async () => {
  await using relay = await startTestRelay({ limits: LIMITS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await fc.assert(
    fc.asyncProperty(messages, async (message) => {
      const random = seededRandom(message.seed);
      const inner = writeLoosely(message.body, random);
      const written = writeLoosely(requestOf(message, bob, inner), random);
      const id = await alice.sent(written);
      const received = await exchange(bob, relay, id);
      assertCarried(received, message);
      for (const reader of [alice, bob]) {
        const request = await reader.call("GET", `/v1/messages/${id}/signed-request`);
        assert.equal(request.text, written);
      }
      const report = await verifyMessage(received, { request: new TextEncoder().encode(written) });
      assert.deepEqual(
        [report.signature, report.contentHash, report.body],
        ["valid", "match", "bound"],
      );
    }),
    propertyRuns(isLong ? 150 : 50),
  );
});
