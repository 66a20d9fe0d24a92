/** The one-way export (specification, section 3): the key leaves the relay, and custody with it. */
import { Buffer } from "node:buffer";
import { agentKey, type Identity, tokenKey } from "../agents/agent_records.ts";
import { RelayError } from "../../base/errors.ts";
import { outKey } from "../mailboxes/agent_mailboxes.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { Custody } from "./custody.ts";
import { custodyKey } from "./sealed_agent_keys.ts";

/**
 * Gives an agent its private key, once. In one commit the stored key is erased, its token ends and
 * custody becomes its own.
 * @param tokenHash of the MCP token that asked
 * @returns the 32-byte seed (RFC 8032, 5.1.5) as 64 lowercase hex digits
 * @throws RelayError `unknown_token` when the key was exported before, `internal` without its
 * custody key
 */
export async function exportPrivateKey(
  { commits, custody }: { commits: GroupCommit; custody: Custody },
  agent: Identity,
  tokenHash: string,
): Promise<string> {
  const { id } = agent;
  return await commits.submit<string>({
    plan(transaction) {
      const sealed = transaction.record(custodyKey(id));
      if (sealed === null) throw exportedBefore();
      const privateKeyHex = Buffer.from(custody.openSeed(agent, sealed)).toString("hex");
      if (transaction.record(tokenKey(tokenHash)) === null) throw exportedBefore();
      transaction.putRecord(agentKey(id), {
        ...transaction.record(agentKey(id))!,
        custody: "self",
      });
      transaction.putRecord(outKey(id), { ...transaction.record(outKey(id))!, custody: "self" });
      transaction.putRecord(tokenKey(tokenHash), null);
      transaction.putRecord(custodyKey(id), null);
      return privateKeyHex;
    },
    committed: () => custody.forget(id),
  });
}

function exportedBefore(): RelayError {
  return new RelayError(
    "unknown_token",
    "the key of this agent was exported before, and the token died with it: sign requests with the exported key",
  );
}
