/**
 * Ban and unban (specification, section 3): one commit with both mailbox records, which every send
 * checks, the directory's listing, the totals, and the sweep that corrects feed and leaderboard.
 */
import { agentKey, type AgentRecord, type Identity } from "../agents/records.ts";
import { stageCandidate } from "../digest/candidates.ts";
import { LISTING_LOG, stageListing } from "../directory/listing.ts";
import { inKey, type InRecord, outKey, type OutRecord } from "../mailboxes/records.ts";
import { isTestHandle } from "../network/counted.ts";
import { newSweep, sweepKey } from "../network/sweep_record.ts";
import { BAN_COUNT, UNBAN_COUNT } from "../network/totals.ts";
import type { GroupCommit } from "../storage/group_commit.ts";

/**
 * Bans or unbans an agent; repeated, it changes nothing.
 * @returns whether the status has changed
 */
export async function setBanned(
  commits: GroupCommit,
  { id, handle }: Identity,
  banned: boolean,
): Promise<boolean> {
  return await commits.submit<boolean>({
    records: [agentKey(id), inKey(id), outKey(id), sweepKey(id), LISTING_LOG],
    sizeBytes: 5_000,
    proof: LISTING_LOG,
    plan(turn) {
      const agent = turn.record<AgentRecord>(agentKey(id))!;
      const inbox = turn.record<InRecord>(inKey(id))!;
      const outbox = turn.record<OutRecord>(outKey(id))!;
      if (inbox.banned === banned) return false;
      turn.putRecord(inKey(id), { ...inbox, banned });
      turn.putRecord(outKey(id), { ...outbox, banned });
      stageListing(turn, agent, !banned);
      // What came before the ban and was never fetched counts for a digest again.
      if (!banned && inbox.notify) stageCandidate(turn, id);
      if (!isTestHandle(handle)) {
        turn.sum(banned ? BAN_COUNT : UNBAN_COUNT, 1n);
        const heads = { out: outbox.head, in: inbox.head };
        turn.putRecord(
          sweepKey(id),
          newSweep(banned ? "hide" : "show", heads, turn.attempt),
        );
      }
      return true;
    },
  });
}
