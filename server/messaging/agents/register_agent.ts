/** Registration of an agent: handle, key, word name, agent id and the address window are one commit. */
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { wordName } from "../../../toolkit/word_name.ts";
import { rateLimited, RelayError } from "../../base/errors.ts";
import {
  type Custody,
  inKey,
  newInRecord,
  newOutRecord,
  outKey,
} from "../mailboxes/agent_mailboxes.ts";
import {
  type GroupCommit,
  Outdated,
  type Transaction,
} from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { stageWindow, type WindowKey } from "../../base/storage/commits/window_record.ts";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import { bindingKey } from "./identities.ts";
import {
  agentKey,
  type AgentRecord,
  tokenKey,
  type TokenKind,
  type TokenRecord,
} from "./agent_records.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";

/** Highest agent id; ids count in commit order. */
export const AGENT_COUNT = defineRecord<number>(["count", "agents"], 0, {
  holds: "highest agent id",
})();

export interface Registration {
  handle: string;
  address: string;
  displayName: string;
  description: string;
  tags: string[];
  custody: Custody;
  tokenKind: TokenKind;
  /** SHA-256 of the token given to the agent, base64url. */
  tokenHash: string;
  /** Counter of the client's address: its keyed hash and how many registrations an hour it may make. */
  client: { window: WindowKey; addressHash: string; limitPerHour: number };
}

/** What a group's annotations learn of a committed registration. */
export interface Registered {
  kind: "registered";
  agent: AgentRecord;
}

/**
 * Registers an agent. Only a success counts against the address's hourly limit.
 * @param extend stages what must commit with the agent, such as its relay-held key
 * @throws RelayError `rate_limited`, `handle_taken`
 */
export async function registerAgent(
  { commits, records }: { commits: GroupCommit; records: RecordCache },
  { tokenKind, tokenHash, client, ...given }: Registration,
  extend: (transaction: Transaction, agent: AgentRecord) => void = () => {},
): Promise<AgentRecord> {
  const { address, custody } = given;
  const { limitPerHour } = client;
  const publicKey = decodeAddress(address);
  const handleKey = bindingKey("handle", given.handle);
  const addressKey = bindingKey("address", address);
  const shortest = wordName(publicKey);
  let isPrepared = false;
  const registered = await commits.submit<Registered, string>({
    records: [handleKey, addressKey, bindingKey("word", shortest)],
    async prepare() {
      if (isPrepared) return await freeWordName(records, publicKey); // the shortest was taken
      isPrepared = true;
      return shortest;
    },
    plan(transaction, wordName) {
      const key = client.window(client.addressHash);
      const rule = { limit: limitPerHour, windowMs: HOUR_MS };
      stageWindow(transaction, key, rule, (retryAfterMs) =>
        rateLimited(
          `at most ${limitPerHour} registrations an hour from one address; wait and register again`,
          retryAfterMs,
        ));
      const handleTaken = transaction.record(handleKey) !== null;
      if (transaction.record(addressKey) !== null) throw keyTaken(handleTaken);
      if (handleTaken) {
        throw new RelayError("handle_taken", "the handle is registered already; choose another");
      }
      const wordKey = bindingKey("word", wordName);
      if (transaction.record(wordKey) !== null) throw new Outdated();
      const id = (transaction.record(AGENT_COUNT) ?? 0) + 1;
      const agent: AgentRecord = {
        v: 1,
        ...given,
        id,
        wordName,
        createdAtMs: transaction.nowMs,
        ownerTokenHash: tokenKind === "owner" ? tokenHash : null,
      };
      transaction.putRecord(AGENT_COUNT, id);
      for (const name of [addressKey, handleKey, wordKey]) {
        transaction.putRecord(name, { v: 1, id });
      }
      // Without checks: id and token are new.
      transaction.set(agentKey(id), agent);
      transaction.set(inKey(id), newInRecord());
      transaction.set(outKey(id), newOutRecord(custody));
      transaction.set(
        tokenKey(tokenHash),
        { v: 1, agentId: id, kind: tokenKind } satisfies TokenRecord,
      );
      extend(transaction, agent);
      return { kind: "registered", agent };
    },
  });
  return registered.agent;
}

/** The shortest free word name of a key; it may be taken by the time of the commit. */
async function freeWordName(records: RecordCache, publicKey: Uint8Array): Promise<string> {
  for (let adjectives = 1;; adjectives++) {
    const name = wordName(publicKey, adjectives);
    if (await records.readRow(bindingKey("word", name)) === null) return name;
  }
}

function keyTaken(handleTaken: boolean): RelayError {
  const what = handleTaken ? "the handle and the pubkey are" : "the pubkey is";
  return new RelayError(
    "handle_taken",
    `${what} registered already; if the key is yours, sign requests with it (GET /v1/whoami tells its handle, POST /v1/owner-token gives a new owner_token)`,
  );
}
