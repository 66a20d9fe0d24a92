/**
 * Finds regularly who is due for a digest. It reads the candidates that sends have named and the
 * agents parked until now, never all agents.
 */
import { CLOCK_SKEW_MS } from "../../base/time/clock_skew.ts";
import { outgoingKey } from "../../base/outgoing/outgoing_row.ts";
import type { Leases } from "../../base/storage/leases/leases.ts";
import { addressCapKey } from "./address_cap.ts";
import { CANDIDATE_ROW, candidateKey, parkedKey } from "./candidates.ts";
import { digestId, type DueAgent, queueDigest } from "./digest_queue.ts";
import { earliestDigestMs, unseenSinceMs } from "./due_rules.ts";
import { findUnreadSince } from "./unread.ts";
import { type DigestServices, readWanted } from "./wanted.ts";

const LEASE = "digest-sweep";
const LEASE_MS = 60_000;
/** How many agents are judged, and addresses served, at the same time. */
const AT_ONCE = 16;

export interface SweepOptions extends DigestServices {
  leases: Leases;
}

/** A row that makes the sweep look at an agent. */
interface Named {
  key: Deno.KvKey;
  versionstamp: string;
  agentId: number;
}

type Verdict =
  | { verdict: "due"; agent: DueAgent }
  | { verdict: "parked"; untilMs: number }
  | { verdict: "not due" };

/**
 * Queues the digests that are due now, unless another process does it.
 * @returns how many were queued
 */
export async function sweepDigests(options: SweepOptions): Promise<number> {
  const lease = await options.leases.take(LEASE, LEASE_MS);
  if (lease === null) return 0;
  try {
    const due: { agent: DueAgent; rows: Named[] }[] = [];
    const named = await listNamed(options);
    for (let from = 0; from < named.length; from += AT_ONCE) {
      if (!await lease.keep()) return 0;
      await Promise.all(
        named.slice(from, from + AT_ONCE).map(async (rows) => {
          const judged = await judge(options, rows[0]!.agentId);
          if (judged.verdict === "due") due.push({ agent: judged.agent, rows });
          else {await closeCandidates(
              options,
              rows,
              judged.verdict === "parked" ? judged.untilMs : null,
            );}
        }),
      );
    }
    return await queueInOrder(options, due, () => lease.keep());
  } finally {
    await lease.release();
  }
}

/**
 * Candidates and agents whose time has come, each agent with all its rows. An agent that is parked for longer
 * than the interval was parked by a clock that was wrong: its time has come too.
 */
async function listNamed({ store, intervalMs }: SweepOptions): Promise<Named[][]> {
  const nowMs = store.now();
  const latestMs = nowMs + intervalMs + CLOCK_SKEW_MS;
  const selectors: Deno.KvListSelector[] = [
    { prefix: candidateKey.under() },
    { start: parkedKey.under(), end: parkedKey.under(nowMs + 1) },
    { prefix: parkedKey.under(), start: parkedKey.under(latestMs + 1) },
  ];
  const byAgent = new Map<number, Named[]>();
  for (const selector of selectors) {
    for (const { key, versionstamp } of await store.list<unknown>(selector)) {
      const agentId = key.at(-1) as number;
      const rows = byAgent.get(agentId) ?? [];
      rows.push({ key, versionstamp, agentId });
      byAgent.set(agentId, rows);
    }
  }
  return [...byAgent.values()];
}

async function judge(options: SweepOptions, agentId: number): Promise<Verdict> {
  const { store, intervalMs, undelivered } = options;
  const nowMs = store.now();
  const wanted = await readWanted(options, agentId, nowMs);
  if ("unwanted" in wanted) return { verdict: "not due" };
  const { subscription, lastPollMs } = wanted;
  const times = { ...subscription, lastPollMs };
  const earliestMs = earliestDigestMs(times, nowMs, intervalMs);
  if (earliestMs > nowMs) return { verdict: "parked", untilMs: earliestMs };
  const waiting = await store.get(outgoingKey(digestId(agentId)));
  // When it is sent, it reports everything undelivered; its end names the agent again.
  if (waiting.value !== null) return { verdict: "not due" };
  const sinceMs = unseenSinceMs(times, nowMs);
  const unseenMs = await findUnreadSince(undelivered, agentId, sinceMs, nowMs);
  if (unseenMs === null) return { verdict: "not due" };
  return { verdict: "due", agent: { agentId, subscription, unseenMs } };
}

/**
 * Queues due agents. Agents of one address are queued one after the other, the one with the oldest
 * last digest first.
 */
async function queueInOrder(
  options: SweepOptions,
  due: { agent: DueAgent; rows: Named[] }[],
  keep: () => Promise<boolean>,
): Promise<number> {
  const lastMs = ({ agent }: { agent: DueAgent }) => agent.subscription.lastNotifiedMs ?? -1;
  due.sort((a, b) => lastMs(a) - lastMs(b) || a.agent.agentId - b.agent.agentId);
  const byAddress = Map.groupBy(due, ({ agent }) => addressCapKey(agent.subscription.email)[1]);
  const addresses = [...byAddress.values()];
  let queued = 0;
  for (let from = 0; from < addresses.length; from += AT_ONCE) {
    if (!await keep()) break;
    await Promise.all(
      addresses.slice(from, from + AT_ONCE).map(async (agents) => {
        for (const { agent, rows } of agents) {
          const outcome = await queueDigest(options, agent);
          if (outcome.result === "changed") continue; // the next sweep judges it again
          if (outcome.result === "queued") queued++;
          await closeCandidates(
            options,
            rows,
            outcome.result === "capped" ? outcome.untilMs : null,
          );
        }
      }),
    );
  }
  return queued;
}

/**
 * Deletes the rows of an agent, and parks it if there is a time to look again. A message that came
 * meanwhile has written its row again: that row is kept for the next sweep.
 */
async function closeCandidates(
  { store, retentionMs }: SweepOptions,
  rows: readonly Named[],
  untilMs: number | null,
): Promise<void> {
  for (const { key, versionstamp, agentId } of rows) {
    await store.transact(async (transaction) => {
      const row = await transaction.get(key);
      if (row.versionstamp !== versionstamp) return;
      transaction.delete(key);
      if (untilMs === null) return;
      const expireInMs = Math.max(1, untilMs - store.now()) + retentionMs;
      transaction.set(parkedKey(Math.ceil(untilMs), agentId), CANDIDATE_ROW, { expireInMs });
    });
  }
}
