/** Agents as anybody may look them up: those that are registered and not banned. */
import type { AgentCore } from "./agent_core.ts";
import { inKey, type InRecord } from "../mailboxes/agent_mailboxes.ts";
import { recordName } from "../../base/storage/commits/record_cache.ts";
import { agentKey, type AgentRecord } from "./agent_records.ts";

export type ActiveAgentServices = Pick<
  AgentCore,
  "deps" | "identities" | "records" | "presence" | "publicReads"
>;

export interface ActiveAgent {
  agent: AgentRecord;
  /** Unix ms of the last accepted authenticated request, or null. */
  lastSeenMs: number | null;
}

/**
 * The active agent of a handle, word name or address, or null. A ban is seen as the store, or the
 * memory that is the truth, has it.
 * @throws RelayError `unavailable` when too many reads without credentials wait
 */
export async function findActiveAgent(
  services: ActiveAgentServices,
  identifier: string,
): Promise<ActiveAgent | null> {
  const read = () => readActiveAgent(services, identifier);
  // Where memory is the truth and complete, nobody has to wait in the queue for the store.
  return await (isInMemory(services, identifier) ? read() : services.publicReads.run(read));
}

async function readActiveAgent(
  { identities, records, presence }: ActiveAgentServices,
  identifier: string,
): Promise<ActiveAgent | null> {
  const found = await identities.resolve(identifier);
  if (found === null) return null;
  const [agent, inbox, lastSeenMs] = await Promise.all([
    records.read<AgentRecord>(agentKey(found.id)),
    records.read<InRecord>(inKey(found.id)),
    presence.lastSeenMs(found.id),
  ]);
  return inbox!.banned ? null : { agent: agent!, lastSeenMs };
}

/** Whether readActiveAgent() reads nothing but memory. */
function isInMemory(
  { deps, identities, records, presence }: ActiveAgentServices,
  identifier: string,
): boolean {
  if (deps.config.sharedStore) return false;
  const found = identities.inMemory(identifier);
  return found !== undefined && presence.isInMemory(found.id) &&
    [agentKey(found.id), inKey(found.id)].every((key) =>
      records.peek(recordName(key)) !== undefined
    );
}
