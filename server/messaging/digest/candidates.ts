/**
 * Agents that may be due for a digest. Each message to an agent with a notification e-mail writes a row for
 * the agent. The sweep reads these rows alone, so its cost grows with the mail, not with the
 * agents.
 */
import type {
  CommitSize,
  GroupAnnotation,
  Transaction,
} from "../../base/storage/commits/group_commit.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** Value of the rows under candidateKey and parkedKey. */
export interface CandidateRow {
  v: 1;
}

export const candidateKey = defineRow<[agentId: number]>(["digest-candidate"], 1, {
  holds: "has the next sweep look at the agent; written with a message to an agent with an " +
    "address",
  expires: "30 d",
});
export const parkedKey = defineRow<[dueMs: number, agentId: number]>(["digest-parked"], 2, {
  holds: "has the sweeps look at the agent from a certain time on",
  expires: "30 d after it",
});

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
