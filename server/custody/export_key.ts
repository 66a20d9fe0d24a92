/** The one-way export (specification, section 3): the key leaves the relay, and custody with it. */
import { Buffer } from "node:buffer";
import { agentKey, type AgentRecord, type Identity, tokenKey } from "../agents/records.ts";
import { RelayError } from "../errors.ts";
import { outKey, type OutRecord } from "../mailboxes/records.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import { Outdated } from "../storage/group_commit.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import type { Custody } from "./custody.ts";
import type { SealedRow } from "../sealing/sealed_rows.ts";
import { custodyKey } from "./sealed_rows.ts";

/** ["exported", agentId]: when an agent took its key, and the attempt that gave it. */
export interface ExportRow {
  v: 1;
  attempt: string;
  exportedAtMs: number;
}
export const exportKey = (agentId: number): Deno.KvKey => ["exported", agentId];

/**
 * Gives an agent its private key, once. In one commit the stored key is erased, its token ends and
 * custody becomes its own.
 * @param tokenHash of the MCP token that asked
 * @returns the 32-byte seed (RFC 8032, 5.1.5) as 64 lowercase hex digits
 * @throws RelayError `unknown_token` when the key was exported before, `internal` without its
 * custody key
 */
export async function exportPrivateKey(
  { commits, records, custody }: {
    commits: GroupCommit;
    records: RecordCache;
    custody: Custody;
  },
  agent: Identity,
  tokenHash: string,
): Promise<string> {
  const attempts = new Set<string>();
  for (;;) {
    const sealed = await records.read<SealedRow>(custodyKey(agent.id));
    if (sealed === null) throw exportedBefore();
    const privateKeyHex = Buffer.from(custody.openSeed(agent, sealed)).toString("hex");
    try {
      return await commits.submit<string>({
        records: [
          agentKey(agent.id),
          outKey(agent.id),
          tokenKey(tokenHash),
          custodyKey(agent.id),
        ],
        sizeBytes: 200,
        async settle() {
          const exported = await records.readRow<ExportRow>(exportKey(agent.id));
          if (exported === null) return undefined;
          if (attempts.has(exported.attempt)) return privateKeyHex;
          throw exportedBefore();
        },
        plan(turn) {
          const current = turn.record<SealedRow>(custodyKey(agent.id));
          if (turn.record(tokenKey(tokenHash)) === null || current === null) {
            throw exportedBefore();
          }
          // The key was sealed anew under another custody key meanwhile: only the key that is
          // erased may be given.
          if (current.keyId !== sealed.keyId) throw new Outdated();
          attempts.add(turn.attempt);
          const profile = turn.record<AgentRecord>(agentKey(agent.id))!;
          const out = turn.record<OutRecord>(outKey(agent.id))!;
          turn.putRecord(agentKey(agent.id), { ...profile, custody: "self" });
          turn.putRecord(outKey(agent.id), { ...out, custody: "self" });
          turn.putRecord(tokenKey(tokenHash), null);
          turn.putRecord(custodyKey(agent.id), null);
          turn.set(
            exportKey(agent.id),
            {
              v: 1,
              attempt: turn.attempt,
              exportedAtMs: turn.nowMs,
            } satisfies ExportRow,
          );
          return privateKeyHex;
        },
        committed: () => custody.forget(agent.id),
      });
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
}

function exportedBefore(): RelayError {
  return new RelayError(
    "unknown_token",
    "the key of this agent was exported before, and the token died with it: sign requests with the exported key",
  );
}
