/** The bearer tokens of agents: their forms, and how an owner_token is replaced. */
import { RelayError } from "../../base/errors.ts";
import { type HashedToken, makeHashedToken } from "../../base/http/callers/hashed_token.ts";
import type { FreeDisk } from "../../base/storage/free_disk.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { countTokenRenewal } from "./change_limits.ts";
import { agentKey, tokenKey, type TokenKind, type TokenRecord } from "./agent_records.ts";
import { refuseForgotten, signatureKey, type SignatureUse } from "./signature_use.ts";

const PREFIX: Record<TokenKind, string> = { owner: "rt_owner_", mcp: "rt_mcp_" };
const TOKEN = /^rt_(owner|mcp)_[A-Za-z0-9_-]{43}$/;

export function makeToken(
  kind: TokenKind,
  random: (sizeBytes: number) => Uint8Array,
): HashedToken {
  return makeHashedToken(PREFIX[kind], random);
}

/** Whether text has the form of a token, somebody's or nobody's. */
export function isTokenForm(text: string): boolean {
  return TOKEN.test(text);
}

export interface TokenServices {
  store: Pick<Store, "floor" | "now">;
  commits: GroupCommit;
  records: RecordCache;
  freeDisk: FreeDisk;
  random: (sizeBytes: number) => Uint8Array;
  /** New tokens of an agent in an hour. */
  renewalsPerHour: number;
}

/**
 * Gives the agent a new owner_token; the old one dies in the same commit.
 * @throws RelayError `invalid_signature` when this very signature rotated the token before, whatever
 * else would refuse it; `rate_limited`, `unavailable` where the disk is nearly full, or where nobody knows
 * whether it did
 */
export async function rotateOwnerToken(
  services: TokenServices,
  agentId: number,
  use: SignatureUse,
): Promise<string> {
  try {
    await services.freeDisk.refuseWhenFull();
    return await rotate(services, agentId, use);
  } catch (error) {
    if (error instanceof RelayError) {
      await refuseUsedSignature(services.records, signatureKey(agentId, use));
    }
    throw error;
  }
}

async function rotate(
  { store, commits, records, random, renewalsPerHour }: TokenServices,
  agentId: number,
  use: SignatureUse,
): Promise<string> {
  const key = agentKey(agentId);
  const usedKey = signatureKey(agentId, use);
  const { token, hash } = makeToken("owner", random);
  return await commits.submit<string>({
    findResult: () => refuseUsedSignature(records, usedKey),
    plan(transaction) {
      // One token of an agent a group: a repetition in the same group would get one too.
      transaction.requireCommitted(key);
      const agent = transaction.record(key)!;
      refuseForgotten(store, use);
      countTokenRenewal(transaction, agentId, renewalsPerHour);
      transaction.requireAbsent(usedKey);
      transaction.set(usedKey, { v: 1, use: "owner-token" });
      if (agent.ownerTokenHash !== null) {
        transaction.putRecord(tokenKey(agent.ownerTokenHash), null);
      }
      transaction.set(tokenKey(hash), { v: 1, agentId, kind: "owner" } satisfies TokenRecord);
      transaction.putRecord(key, { ...agent, ownerTokenHash: hash });
      return token;
    },
  });
}

async function refuseUsedSignature(records: RecordCache, usedKey: Deno.KvKey): Promise<undefined> {
  if (await records.readRow(usedKey) === null) return undefined;
  throw new RelayError(
    "invalid_signature",
    "this signature was used before: an owner_token is shown once; sign again with a later timestamp",
  );
}
