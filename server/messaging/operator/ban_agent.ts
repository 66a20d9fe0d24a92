/**
 * Ban and unban (specification, section 3). One commit changes both mailbox records, which every
 * send checks, the directory's listing and the totals. It also begins the sweep that corrects feed
 * and leaderboard.
 */
import { agentKey, type Identity } from "../agents/agent_records.ts";
import { stageCandidate } from "../digest/candidates.ts";
import { stageListing } from "../directory/listing.ts";
import { inKey, outKey } from "../mailboxes/agent_mailboxes.ts";
import { isTestHandle } from "../network/counted.ts";
import { newSweep, sweepKey } from "../network/sweep_record.ts";
import { BAN_COUNT, UNBAN_COUNT } from "../network/totals.ts";
import { banKey, stageBan } from "./ban_list.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";

/**
 * Bans or unbans an agent. A repetition changes only the reason, if one is given.
 * @param reason the operator's words, at most 200 characters; null for none
 * @returns whether the status has changed
 */
export async function setBanned(
  commits: GroupCommit,
  identity: Identity,
  banned: boolean,
  reason: string | null = null,
): Promise<boolean> {
  const { id, handle } = identity;
  return await commits.submit((transaction) => {
    const inbox = transaction.record(inKey(id))!;
    const outbox = transaction.record(outKey(id))!;
    if (inbox.banned === banned) {
      const known = transaction.record(banKey(id));
      if (banned && reason !== null && reason !== known?.reason) {
        stageBan(transaction, identity, { v: 1, reason, bannedAtMs: known?.bannedAtMs ?? null });
      }
      return false;
    }
    transaction.putRecord(inKey(id), { ...inbox, banned });
    transaction.putRecord(outKey(id), { ...outbox, banned });
    stageBan(
      transaction,
      identity,
      banned ? { v: 1, reason, bannedAtMs: transaction.nowMs } : null,
    );
    stageListing(transaction, transaction.record(agentKey(id))!, !banned);
    // Messages that came before the ban and were never fetched count for a digest again.
    if (!banned && inbox.notify) stageCandidate(transaction, id);
    if (!isTestHandle(handle)) {
      transaction.sum(banned ? BAN_COUNT : UNBAN_COUNT, 1n);
      transaction.putRecord(
        sweepKey(id),
        newSweep(banned ? "hide" : "show", outbox.head, inbox.head),
      );
    }
    return true;
  });
}
