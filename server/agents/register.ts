/** Registration of an agent: handle, key, word name, agent id and the address window are one commit. */
import { defineRecord } from "../storage/record_key.ts";
import { wordName } from "../../toolkit/word_name.ts";
import { rateLimited, RelayError } from "../errors.ts";
import { type Custody, inKey, newInRecord, newOutRecord, outKey } from "../mailboxes/records.ts";
import type { GroupCommit, Job } from "../storage/group_commit.ts";
import { Outdated } from "../storage/group_commit.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import { stageWindow, windowKey as keyOfWindow } from "../storage/window_record.ts";
import { decodeAddress } from "../../toolkit/decode_address.ts";
import { type Binding, bindingKey, type BindingRow } from "./identities.ts";
import {
  agentKey,
  type AgentRecord,
  tokenKey,
  type TokenKind,
  type TokenRecord,
} from "./records.ts";
import { HOUR_MS } from "../time_units.ts";

/** Highest agent id; ids count in commit order. */
export const AGENT_COUNT = defineRecord<number>(["count", "agents"], 0)();

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
  client: { windowName: string; addressHash: string; limitPerHour: number };
}

/** What a group's annotations learn of a committed registration. */
export interface Registered {
  kind: "registered";
  agent: AgentRecord;
}

/**
 * Registers an agent. Only a success counts against the address's hourly limit.
 * @param extend rows that must commit with the agent, such as its relay-held key
 * @throws RelayError `rate_limited`, `handle_taken`
 */
export async function registerAgent(
  { commits, records }: { commits: GroupCommit; records: RecordCache },
  registration: Registration,
  extend: (set: (key: Deno.KvKey, value: unknown) => void, agent: AgentRecord) => void = () => {},
): Promise<AgentRecord> {
  const job = await registrationJob(records, registration, extend);
  return (await commits.submit(job)).agent;
}

interface Found {
  taken: Binding[];
  wordName: string;
}

/** Whose handle and key these are already, and the shortest word name of the key that is free. */
async function findBindings(
  records: RecordCache,
  { handle, address }: Registration,
): Promise<Found> {
  const exists = async (binding: Binding, name: string) =>
    await records.readRow(bindingKey(binding, name)) !== null;
  const publicKey = decodeAddress(address);
  const taken: Binding[] = [];
  if (await exists("handle", handle)) taken.push("handle");
  if (await exists("address", address)) taken.push("address");
  let name = wordName(publicKey);
  for (let adjectives = 2; taken.length === 0 && await exists("word", name); adjectives++) {
    name = wordName(publicKey, adjectives);
  }
  return { taken, wordName: name };
}

async function registrationJob(
  records: RecordCache,
  registration: Registration,
  extend: (set: (key: Deno.KvKey, value: unknown) => void, agent: AgentRecord) => void,
): Promise<Job<Registered>> {
  let found = await findBindings(records, registration);
  const { handle, address, client } = registration;
  const windowKey = keyOfWindow(client.windowName, client.addressHash);
  return {
    records: [AGENT_COUNT, windowKey],
    sizeBytes: 12_000,
    // A lost race for handle, key or word name: look again who has them.
    async settle() {
      found = await findBindings(records, registration);
      return undefined;
    },
    plan(turn) {
      const rule = { limit: client.limitPerHour, windowMs: HOUR_MS };
      stageWindow(turn, windowKey, rule, (retryAfterMs) =>
        rateLimited(
          `at most ${client.limitPerHour} registrations an hour from one address; wait and register again`,
          retryAfterMs,
        ));
      if (found.taken.length > 0) throw taken(found.taken);
      // The bindings that an earlier registration of this group makes are not to be seen yet.
      turn.requireCommitted(AGENT_COUNT);
      const id = (turn.record<number>(AGENT_COUNT) ?? 0) + 1;
      const agent: AgentRecord = {
        v: 1,
        id,
        address,
        handle,
        wordName: found.wordName,
        displayName: registration.displayName,
        description: registration.description,
        tags: registration.tags,
        createdAtMs: turn.nowMs,
        custody: registration.custody,
        ownerTokenHash: registration.tokenKind === "owner" ? registration.tokenHash : null,
      };
      turn.putRecord(AGENT_COUNT, id);
      const bindings: [Binding, string][] = [
        ["address", address],
        ["handle", handle],
        ["word", found.wordName],
      ];
      for (const [binding, name] of bindings) {
        turn.requireAbsent(bindingKey(binding, name));
        const row: BindingRow = { v: 1, id };
        if (binding === "address") row.attempt = turn.attempt;
        turn.set(bindingKey(binding, name), row);
      }
      turn.set(agentKey(id), agent);
      turn.set(inKey(id), newInRecord());
      turn.set(outKey(id), newOutRecord(registration.custody));
      turn.set(
        tokenKey(registration.tokenHash),
        { v: 1, agentId: id, kind: registration.tokenKind } satisfies TokenRecord,
      );
      extend((key, value) => turn.set(key, value), agent);
      return { kind: "registered", agent };
    },
  };
}

function taken(bindings: Binding[]): RelayError {
  if (!bindings.includes("address")) {
    return new RelayError("handle_taken", "the handle is registered already; choose another");
  }
  const what = bindings.includes("handle") ? "the handle and the pubkey are" : "the pubkey is";
  return new RelayError(
    "handle_taken",
    `${what} registered already; if the key is yours, sign requests with it (GET /v1/whoami tells its handle, POST /v1/owner-token gives a new owner_token)`,
  );
}
