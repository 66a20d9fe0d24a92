/**
 * A campaign of hostile requests against one relay. Whatever is sent, the answer is a good one or an
 * error of the contract, nothing fails inside, and a refused request leaves the store as it was.
 */
import assert from "node:assert/strict";
import { type Answer, assertErrorShape, assertStatus } from "../support/answer.ts";
import { seededRandom } from "../support/fake_kv.ts";
import type { Random } from "../support/loose_json.ts";
import { propertySeed } from "../support/property_runs.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents, TestAgent } from "../support/test_agent.ts";
import { type FuzzContext, type FuzzRoute, fuzzRoutes } from "./fuzz_routes.ts";

/** Limits are not what is fuzzed: no refusal may hide another. */
const LIMITS = {
  registrationsPerIpPerHour: 1_000_000,
  toolRegistrationsPerIpPerHour: 1_000_000,
  sendsPerAgentPerMinute: 1_000_000,
  searchesPerIpPerMinute: 1_000_000,
  inboxPollIntervalMs: 0,
};

export const ADMIN_TOKEN = "fuzz-".repeat(8);

/** Rows that any request, or none at all, may move: presence, ids, leases, figures that are folded. */
const HOUSEKEEPING = new Set(["seen", "poll", "slot", "lease", "tally"]);

/** Records that are in the journal first: their own rows follow when there is time, with the fence of that save. */
const DEFERRED = /^(?:(?:in|out)\/|meta\/journal )/;
const JOURNAL = /^journal\//;

/** Codes of internal failures, which no request may cause. */
const FAILURES = new Set(["internal", "unavailable"]);

export interface Campaign {
  relay: TestRelay;
  context: FuzzContext;
  routes: readonly FuzzRoute[];
  random: Random;
  /**
   * Makes one request and judges its answer.
   * @param what tells the request again where it failed
   * @param ask undefined for a connection that ended without an answer
   */
  judge(
    what: string,
    route: FuzzRoute | null,
    ask: () => Promise<Answer | undefined>,
  ): Promise<void>;
}

export interface CampaignOptions {
  /** Answers may be the HTTP parser's own empty 4xx. */
  parserMayRefuse?: boolean;
  /** Connections may end without an answer. */
  mayEndUnanswered?: boolean;
}

/** Runs a campaign on a fresh relay; afterwards the relay must serve as it did before. */
export async function runCampaign(
  options: CampaignOptions,
  attack: (campaign: Campaign) => Promise<void>,
): Promise<void> {
  const seed = propertySeed();
  await using relay = await startTestRelay({
    limits: LIMITS,
    config: { adminToken: ADMIN_TOKEN },
  });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const messageId = await alice.sent({ to: "bob_1", body: "before" });
  let strangers = 0;
  const context: FuzzContext = {
    alice,
    bob,
    messageId,
    unregistered: () => ({
      handle: `stranger_${++strangers}`,
      pubkey: new TestAgent(relay).address,
    }),
  };
  const codes = new Map<string, number>();
  let rows = await rowVersions(relay.deps.kv);

  async function judge(
    what: string,
    route: FuzzRoute | null,
    ask: () => Promise<Answer | undefined>,
  ): Promise<void> {
    try {
      const answer = await ask();
      const code = judgeAnswer(answer, route, options);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      assert.deepEqual(relay.logged.filter(({ event }) => /fail/.test(event)), []);
      const before = rows;
      rows = await rowVersions(relay.deps.kv);
      const isRefused = answer === undefined || answer.status >= 400;
      if (isRefused && rows.join() !== before.join()) {
        const [former, now] = [new Set(before), new Set(rows)];
        assert.deepEqual(
          rows.filter((row) => !former.has(row) && !DEFERRED.test(row)),
          before.filter((row) => !now.has(row) && !DEFERRED.test(row) && !JOURNAL.test(row)),
          "the store changed",
        );
      }
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new Error(`seed ${seed}: ${what}\n${cause}`, { cause: error });
    }
  }

  await attack({
    relay,
    context,
    routes: fuzzRoutes(relay.relay.app.routes),
    random: seededRandom(seed),
    judge,
  });
  const log = JSON.stringify(relay.logged);
  for (const secret of [alice.ownerToken, alice.keys.privateKeyHex, ADMIN_TOKEN]) {
    assert.ok(!log.includes(secret), "a secret reached the log");
  }
  assert.ok(codes.size >= 2, "a campaign that meets one kind of answer has not attacked");
  const after = await alice.send({ to: "bob_1", body: "after" });
  assertStatus(after, 201);
  const page = await bob.poll(`since_id=${after.json.id - 1}`);
  assert.equal(page.json.messages[0].body, "after");
}

/** @returns the error code, or the status of another answer */
function judgeAnswer(
  answer: Answer | undefined,
  route: FuzzRoute | null,
  { parserMayRefuse, mayEndUnanswered }: CampaignOptions,
): string {
  if (answer === undefined) {
    assert.ok(mayEndUnanswered, "the connection ended without an answer");
    return "none";
  }
  const { status, headers, text, json } = answer;
  assert.ok(status !== 500 && status < 600, `${status} ${text.slice(0, 300)}`);
  if (status < 400) return String(status);
  if (text === "" && !headers.has("x-request-id")) {
    assert.ok(parserMayRefuse && [400, 414, 431].includes(status), `a bare ${status}`);
    return `parser ${status}`;
  }
  if (text === "") return `head ${status}`;
  if (route?.rpc && json?.jsonrpc === "2.0") {
    assert.equal(typeof json.error?.code, "number", text.slice(0, 300));
    return `rpc ${json.error.code}`;
  }
  const code = assertErrorShape(answer);
  assert.ok(!FAILURES.has(code), text.slice(0, 300));
  return code;
}

/** Every row except the relay's own upkeep, with its version: cheaper than values, and as telling. */
async function rowVersions(kv: Deno.Kv): Promise<string[]> {
  const versions: string[] = [];
  for await (const { key, versionstamp } of kv.list({ prefix: [] }, { batchSize: 500 })) {
    if (!HOUSEKEEPING.has(String(key[0]))) versions.push(`${key.join("/")} ${versionstamp}`);
  }
  return versions;
}

/** Bytes as a line that can be pasted, cut where it is long. */
export function showBytes(bytes: Uint8Array): string {
  const text = JSON.stringify(new TextDecoder("latin1").decode(bytes.subarray(0, 1_000)));
  return bytes.length > 1_000 ? `${text}... (${bytes.length} bytes)` : text;
}
