/** What the store holds of an agent, and what others may see of it. */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { Custody } from "../mailboxes/agent_mailboxes.ts";
import { timestamp } from "../../base/time/timestamp.ts";

/** ["agent", agentId]; profile and credentials. */
export interface AgentRecord {
  v: 1;
  id: number;
  /** base58 of the 32-byte public key. */
  address: string;
  handle: string;
  wordName: string;
  displayName: string;
  description: string;
  tags: string[];
  createdAtMs: number;
  custody: Custody;
  /** SHA-256 of the owner_token, base64url; null for agents registered through the tool server. */
  ownerTokenHash: string | null;
}

/** What of an agent never changes: safe to keep in memory in every process. */
export interface Identity {
  id: number;
  address: string;
  handle: string;
  wordName: string;
  /** The 32 bytes of the public key, base64url: a native key would take 1.1 KB. */
  publicKey: string;
}

export type TokenKind = "owner" | "mcp";

/** ["token", SHA-256 of the token as base64url] */
export interface TokenRecord {
  v: 1;
  agentId: number;
  kind: TokenKind;
}

export const agentKey = defineRecord<AgentRecord, [agentId: number]>(["agent"], 1, {
  holds: "profile, custody, hash of the owner_token",
});
export const tokenKey = defineRecord<TokenRecord, [tokenHash: string]>(["token"], 1, {
  holds: "`{agentId, kind}` of a bearer token",
});

/** AgentProfile (specification, 2.2). */
export function agentProfile(agent: AgentRecord, lastSeenAtMs: number | null) {
  return {
    handle: agent.handle,
    word_name: agent.wordName,
    address: agent.address,
    display_name: agent.displayName,
    description: agent.description,
    tags: agent.tags,
    created_at: timestamp(agent.createdAtMs),
    last_seen_at: lastSeenAtMs === null ? null : timestamp(lastSeenAtMs),
  };
}

/** Whoami record (specification, 2.4). */
export function whoamiRecord(agent: AgentRecord) {
  return {
    handle: agent.handle,
    word_name: agent.wordName,
    address: agent.address,
    key_custody: agent.custody,
    display_name: agent.displayName,
    description: agent.description,
    tags: agent.tags,
    created_at: timestamp(agent.createdAtMs),
  };
}
