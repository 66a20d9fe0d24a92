/**
 * Who may be due for a digest. Each message to an agent with a notification e-mail writes a row for
 * the agent. The sweep reads these rows alone, so its cost grows with the mail, not with the
 * agents.
 */
import type {
  CommitSize,
  GroupAnnotation,
  Transaction,
} from "../../base/storage/commits/group_commit.ts";

/** Value of ["digest-candidate", agentId] and ["digest-parked", dueMs, agentId]. */
export interface CandidateRow {
  v: 1;
}

export const candidateKey = (agentId: number): Deno.KvKey => ["digest-candidate", agentId];
/** An agent that is to be looked at again at a certain time. */
export const parkedKey = (dueMs: number, agentId: number): Deno.KvKey => [
  "digest-parked",
  dueMs,
  agentId,
];

export const CANDIDATE_ROW: CandidateRow = { v: 1 };

/**
 * Makes the next sweep look at an agent, inside the plan of a job. For changes that make messages
 * count again, such as an unban. One mutation.
 * @param keptMs how long a message is kept: after that nothing is left to report. For ever when the
 * caller does not know it; the sweep deletes the row
 */
export function stageCandidate(
  transaction: Pick<Transaction, "set">,
  agentId: number,
  keptMs?: number,
): void {
  transaction.set(candidateKey(agentId), CANDIDATE_ROW, keptMs);
}

const CANDIDATE_SIZE: CommitSize = { mutations: 1, bytes: 100 };
const NO_SIZE: CommitSize = { mutations: 0, bytes: 0 };

/** What of a send concerns digests. */
type Naming = { recipient: { id: number }; notify: boolean };

/** Names the recipients of a group's sends, once each. */
export function nameCandidates(keptMs: number): GroupAnnotation<Naming> {
  return {
    kinds: ["sent"],
    sizeOf: ({ notify }) => notify ? CANDIDATE_SIZE : NO_SIZE,
    annotate(sends, transaction) {
      const named = new Set<number>();
      for (const { recipient: { id }, notify } of sends) if (notify) named.add(id);
      for (const id of named) stageCandidate(transaction, id, keptMs);
    },
  };
}
