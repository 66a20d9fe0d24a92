/** The network's figures as the API gives them, and as a recount of the store gives them. */
import { storedRecord } from "./read_through.ts";
import assert from "node:assert/strict";
import type { AgentRecord } from "../../server/messaging/agents/agent_records.ts";
import { inKey } from "../../server/messaging/mailboxes/agent_mailboxes.ts";
import type { OutboxRow } from "../../server/messaging/messages/rows/message_row.ts";
import { type Answer, ask, assertStatus } from "./answer.ts";
import type { JsonValue } from "../../toolkit/mod.ts";
import type { TestRelay } from "./relay.ts";

/** RELAY_ADMIN_TOKEN of test relays. */
export const ADMIN_TOKEN = "the-operator-of-a-relay-under-test";

export interface ShownEvent {
  id: number;
  from_handle: string;
  to_handle: string;
  created_at: string;
}

export interface Figures {
  stats: { total_messages: number; total_agents: number };
  events: ShownEvent[];
  agents: { handle: string; word_name: string; message_count: number }[];
}

type Target = Pick<TestRelay, "url">;

/** @param named the fields of the request; a string is a pubkey */
export async function askAdmin(
  { url }: Target,
  verb: "ban" | "unban" | "purge",
  named: string | { [field: string]: JsonValue },
  token = ADMIN_TOKEN,
): Promise<Answer> {
  return await ask(`${url}/v1/admin/${verb}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify(typeof named === "string" ? { pubkey: named } : named),
  });
}

/**
 * Bans or unbans an agent and requires success. Repeats a 503, which a store that several relays
 * write at once may cause.
 */
export async function setBanned(
  target: Target,
  { address }: { address: string },
  banned: boolean,
): Promise<void> {
  let answer = await askAdmin(target, banned ? "ban" : "unban", address);
  for (let retry = 0; answer.status === 503 && retry < 5; retry++) {
    answer = await askAdmin(target, banned ? "ban" : "unban", address);
  }
  assertStatus(answer, 200);
  assert.deepEqual(answer.json, { ok: true });
}

async function read(target: Target, path: string) {
  const answer = await ask(`${target.url}${path}`);
  assertStatus(answer, 200);
  return answer.json;
}

export async function readStats(target: Target): Promise<Figures["stats"]> {
  return await read(target, "/v1/stats");
}

export async function readFeed(target: Target, query = ""): Promise<ShownEvent[]> {
  return (await read(target, `/v1/feed${query === "" ? "" : `?${query}`}`)).events;
}

export async function readLeaderboard(target: Target, query = ""): Promise<Figures["agents"]> {
  return (await read(target, `/v1/leaderboard${query === "" ? "" : `?${query}`}`)).agents;
}

/** The whole feed, page by page; every page but the last must be full. */
export async function readWholeFeed(target: Target, limit = 7): Promise<ShownEvent[]> {
  const events: ShownEvent[] = [];
  for (;;) {
    const before = events.length > 0 ? `&before_id=${events.at(-1)!.id}` : "";
    const page = await readFeed(target, `limit=${limit}${before}`);
    events.push(...page);
    if (page.length < limit) return events;
  }
}

/** All three figures, each read to its end. */
export async function readFigures(target: Target, feedLimit = 7): Promise<Figures> {
  return {
    stats: await readStats(target),
    events: await readWholeFeed(target, feedLimit),
    agents: await readLeaderboard(target, "limit=100"),
  };
}

const TEST_HANDLE = /^(qa|sim|verify|flood)_/;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/**
 * The figures counted from the mailboxes and records alone, one message at a time. No message of a
 * test has left the store yet, however far the clock was moved.
 */
export async function recount(kv: Deno.Kv, nowMs: number): Promise<Figures> {
  const agents = new Map<number, AgentRecord & { banned: boolean }>();
  for await (const { value } of kv.list<AgentRecord>({ prefix: ["agent"] })) {
    const inbox = await storedRecord(kv, inKey(value.id));
    agents.set(value.id, { ...value, banned: inbox.value!.banned });
  }
  const isTest = (id: number) => TEST_HANDLE.test(agents.get(id)!.handle);
  const events: ShownEvent[] = [];
  const counts = new Map<number, number>();
  let totalMessages = 0;
  for await (const { key, value } of kv.list<OutboxRow>({ prefix: ["outbox"] })) {
    const [senderId, id] = key.slice(1) as [number, number];
    const { recipientId, createdAtMs } = value;
    const sides = [senderId, recipientId];
    if (sides.some(isTest)) continue;
    totalMessages++;
    if (sides.some((side) => agents.get(side)!.banned)) continue;
    if (nowMs - createdAtMs >= 30 * DAY_MS) continue;
    events.push({
      id,
      from_handle: agents.get(senderId)!.handle,
      to_handle: agents.get(recipientId)!.handle,
      created_at: new Date(createdAtMs).toISOString(),
    });
    // The minute of the message must not end before the window begins.
    const minuteEndMs = (Math.floor(createdAtMs / MINUTE_MS) + 1) * MINUTE_MS;
    if (minuteEndMs > nowMs - 7 * DAY_MS) counts.set(senderId, (counts.get(senderId) ?? 0) + 1);
  }
  return {
    events: events.sort((a, b) => b.id - a.id),
    agents: [...counts]
      .map(([id, count]) => ({
        handle: agents.get(id)!.handle,
        word_name: agents.get(id)!.wordName,
        message_count: count,
      }))
      .sort((a, b) => b.message_count - a.message_count || (a.handle < b.handle ? -1 : 1))
      .slice(0, 100),
    stats: {
      total_messages: totalMessages,
      total_agents: [...agents.values()].filter(({ id, banned }) => !isTest(id) && !banned).length,
    },
  };
}
