/** Changes to a profile: one commit with its listing, its notification e-mail and the request's signature. */
import { stageListing } from "../directory/listing.ts";
import { stageSubscription } from "../digest/subscription.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import { RelayError } from "../../base/errors.ts";
import { inKey, type InRecord } from "../mailboxes/agent_mailboxes.ts";
import type { Job } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { countProfileChange } from "../agents/change_limits.ts";
import { agentKey, agentProfile, type AgentRecord } from "../agents/agent_records.ts";
import { refuseForgotten, signatureKey, type SignatureUse } from "../agents/signature_use.ts";

/** What is to change; what is absent stays. Values are clean already (profile_rules.ts). */
export interface ProfileChanges {
  displayName?: string;
  description?: string;
  /** Replaces the whole set. */
  tags?: string[];
  /** Null clears it. */
  notificationEmail?: string | null;
}

export type ProfileServices = Pick<
  AgentCore,
  "deps" | "limits" | "store" | "commits" | "records" | "presence" | "freeDisk"
>;

export type AgentProfile = ReturnType<typeof agentProfile>;

/**
 * Changes an agent's profile.
 * @param use the signature of a signed request: used again, it changes nothing
 * @returns the profile as it is then
 * @throws RelayError `banned`, `rate_limited`, `unavailable` where the disk is nearly full, or
 * where it is unknown whether this signature has changed it before
 */
export async function updateProfile(
  services: ProfileServices,
  agentId: number,
  changes: ProfileChanges,
  use?: SignatureUse,
): Promise<AgentProfile> {
  const { commits, presence, freeDisk } = services;
  try {
    await freeDisk.refuseWhenFull();
    const agent = await commits.submit(updateJob(services, agentId, changes, use));
    return agentProfile(agent, await presence.lastSeenMs(agentId));
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
    // An equal request may have been accepted since it was looked up: no refusal of a repetition.
    const repeated = await repeatedUpdate(services, agentId, use);
    if (repeated === null) throw error;
    return repeated;
  }
}

/**
 * The present profile when this signature has changed it before, else null.
 * @throws RelayError `banned`, which stands before any repetition
 */
export async function repeatedUpdate(
  { records, presence }: ProfileServices,
  agentId: number,
  use: SignatureUse | undefined,
): Promise<AgentProfile | null> {
  refuseBanned((await records.read<InRecord>(inKey(agentId)))!);
  if (use === undefined) return null;
  const agent = await findRepeated(records, agentId, signatureKey(agentId, use));
  return agent === undefined ? null : agentProfile(agent, await presence.lastSeenMs(agentId));
}

function updateJob(
  { deps: { random }, store, records, limits }: ProfileServices,
  agentId: number,
  { displayName, description, tags, notificationEmail }: ProfileChanges,
  use: SignatureUse | undefined,
): Job<AgentRecord> {
  const usedKey = use === undefined ? null : signatureKey(agentId, use);
  const lists = displayName !== undefined || description !== undefined || tags !== undefined;
  return {
    async findResult() {
      if (usedKey === null) return undefined;
      const agent = await findRepeated(records, agentId, usedKey);
      if (agent !== undefined) refuseBanned((await records.read<InRecord>(inKey(agentId)))!);
      return agent;
    },
    plan(transaction) {
      // One change of an agent a group: a repetition in the same group would be applied twice.
      transaction.requireCommitted(agentKey(agentId));
      const before = transaction.record(agentKey(agentId))!;
      refuseBanned(transaction.record(inKey(agentId))!);
      if (use !== undefined) refuseForgotten(store, use);
      countProfileChange(transaction, agentId, limits.profileChangesPerAgentPerMinute);
      const after: AgentRecord = {
        ...before,
        displayName: displayName ?? before.displayName,
        description: description ?? before.description,
        tags: tags ?? before.tags,
      };
      if (usedKey !== null) {
        transaction.requireAbsent(usedKey);
        transaction.set(usedKey, { v: 1, use: "profile" });
      }
      transaction.putRecord(agentKey(agentId), after);
      if (lists) stageListing(transaction, after, true);
      if (notificationEmail !== undefined) {
        stageSubscription(transaction, agentId, notificationEmail, random);
      }
      return after;
    },
  };
}

async function findRepeated(
  records: RecordCache,
  agentId: number,
  usedKey: Deno.KvKey,
): Promise<AgentRecord | undefined> {
  if (await records.readRow(usedKey) === null) return undefined;
  return (await records.read<AgentRecord>(agentKey(agentId)))!;
}

function refuseBanned(inbox: InRecord): void {
  if (!inbox.banned) return;
  throw new RelayError(
    "banned",
    "this agent is banned by the operator and cannot change its profile",
  );
}
