/**
 * Stores with many agents and messages, written as the relay writes them but past it and past
 * Deno KV: a million messages in half a minute.
 */
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { AgentRecord, Identity } from "../server/messaging/agents/agent_records.ts";
import { listingKey, listingOf } from "../server/messaging/directory/listing.ts";
import {
  inKey,
  newInRecord,
  newOutRecord,
  outKey,
} from "../server/messaging/mailboxes/agent_mailboxes.ts";
import {
  encodeMessage,
  inboxKey,
  outboxKey,
  type OutboxRow,
} from "../server/messaging/messages/rows/message_row.ts";
import { encodeRow } from "../server/messaging/messages/rows/row_codec.ts";
import { minuteOf } from "../server/messaging/network/counted.ts";
import { encodeBlock, type FeedEvent, feedKey } from "../server/messaging/network/feed_block.ts";
import { countOf } from "../server/messaging/network/record_figures.ts";
import { deltaKey, encodeCounts, mergeCounts } from "../server/messaging/network/tally_rows.ts";
import { MESSAGE_COUNT, REGISTRATION_COUNT } from "../server/messaging/network/totals.ts";
import { lowestIdAt } from "../server/base/storage/commits/id_sequence.ts";
import { encodeAddress } from "../toolkit/encode_address.ts";
import { wordName } from "../toolkit/word_name.ts";
import type { BenchAgent } from "./agents.ts";
import { KvFile, type PlainKey, Sum } from "./kv_file.ts";
import type { Context, StoreSize } from "./row.ts";

const DAY_MS = 86_400_000;
const KEPT_MS = 40 * DAY_MS;
/** The newest message is older than a clock that a row starts in the past. */
const NEWEST_AGE_MS = 15 * 60_000;
/** Agents up to this id have keys that sign and can be resolved; those of a million take a minute. */
const WITH_KEYS = 100_000;
/** Sends of one group commit: one feed block and one delta. */
const SENDS_A_GROUP = 50;
const TEXT = "x".repeat(200 - '{"text":""}'.length);
/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410). */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

const WORDS =
  ("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november " +
    "oscar papa quebec romeo sierra tango uniform victor whiskey yankee zulu writes poems about trains " +
    "translates legal text summarises papers weather scheduling assistant image captions helper finance " +
    "ledger search crawler").split(" ");

type Random = () => number;

export function pickWord(random: Random): string {
  return WORDS[Math.floor(random() * WORDS.length)]!;
}

export function handleOf(agentId: number): string {
  return `${WORDS[agentId % WORDS.length]}_${agentId}`;
}

function seedOf(agentId: number): Buffer {
  return createHash("sha256").update(`stored agent ${agentId}`).digest();
}

function privateKeyOf(agentId: number): KeyObject {
  const key = Buffer.concat([PKCS8_HEAD, seedOf(agentId)]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

function publicKeyOf(agentId: number): Uint8Array {
  if (agentId > WITH_KEYS) return seedOf(agentId);
  const { x } = createPublicKey(privateKeyOf(agentId)).export({ format: "jwk" });
  return new Uint8Array(Buffer.from(x!, "base64url"));
}

/** Agents 1 to `count` of a filled store, with the keys that sign for them; 100,000 at most. */
export function storedAgents(count: number): BenchAgent[] {
  if (count > WITH_KEYS) throw new RangeError(`only ${WITH_KEYS} stored agents have keys`);
  return Array.from({ length: count }, (_, i) => {
    const publicKey = publicKeyOf(i + 1);
    return {
      address: encodeAddress(publicKey),
      ownerToken: "",
      key: privateKeyOf(i + 1),
      publicKey: Buffer.from(publicKey).toString("base64url"),
    };
  });
}

/** Agents 1 to `count`, each seen some time in the last month, listed and resolvable. */
function fillAgents(
  file: KvFile,
  count: number,
  { random, nowMs }: { random: Random; nowMs: number },
): AgentRecord[] {
  const some = (words: number) => Array.from({ length: words }, () => pickWord(random));
  const agents = Array.from({ length: count }, (_, i): AgentRecord => {
    const publicKey = publicKeyOf(i + 1);
    return {
      v: 1,
      id: i + 1,
      address: encodeAddress(publicKey),
      handle: handleOf(i + 1),
      wordName: wordName(publicKey),
      displayName: some(2).join(" "),
      description: some(12).join(" "),
      tags: [...new Set(some(2))],
      createdAtMs: nowMs - 30 * DAY_MS + i,
      custody: "self",
      ownerTokenHash: null,
    };
  });
  // In the order of their keys, which the store's file takes several times as fast as any other.
  for (const agent of agents.toSorted(by("address"))) {
    file.set(["address", agent.address], { v: 1, id: agent.id });
  }
  for (const agent of agents) file.set(["agent", agent.id], agent);
  file.set(["count", "agents"], count);
  for (const agent of agents.toSorted(by("handle"))) {
    file.set(["handle", agent.handle], { v: 1, id: agent.id });
  }
  for (const { id } of agents) file.set(plain(inKey(id)), newInRecord());
  for (const agent of agents) file.set(plain(listingKey(agent.id)), listingOf(agent));
  for (const { id } of agents) file.set(plain(outKey(id)), newOutRecord("self"));
  for (const { id } of agents) {
    file.set(["seen", id], nowMs - Math.floor(random() * 30 * DAY_MS));
  }
  file.set(plain(REGISTRATION_COUNT), new Sum(BigInt(count)));
  for (const agent of agents.toSorted(by("wordName"))) {
    file.set(["word", agent.wordName], { v: 1, id: agent.id });
  }
  return agents;
}

function by(field: "address" | "handle" | "wordName") {
  return (a: AgentRecord, b: AgentRecord) => a[field] < b[field] ? -1 : 1;
}

/** The keys of this file have neither booleans nor bigints. */
function plain(key: Deno.KvKey): PlainKey {
  return key as PlainKey;
}

/** Messages between random ones of the agents, spread over the last six days. */
function fillMessages(
  file: KvFile,
  count: number,
  { agents, random, nowMs }: { agents: readonly AgentRecord[]; random: Random; nowMs: number },
): void {
  const newestMs = nowMs - NEWEST_AGE_MS;
  const expiresAtMs = nowMs + KEPT_MS;
  const stepMs = 6 * DAY_MS / (count / SENDS_A_GROUP);
  const messages: { id: number; createdAtMs: number; from: number; to: number }[] = [];
  const any = () => Math.floor(random() * agents.length);
  for (let group = 0; messages.length < count; group++) {
    const createdAtMs = Math.floor(newestMs - 6 * DAY_MS + group * stepMs);
    const events = Array.from({ length: SENDS_A_GROUP }, (_, i): FeedEvent => {
      const id = lowestIdAt(createdAtMs) + 256 * i;
      const [from, to] = [any(), any()];
      messages.push({ id, createdAtMs, from, to });
      return {
        id,
        senderId: agents[from]!.id,
        recipientId: agents[to]!.id,
        senderHandle: agents[from]!.handle,
        recipientHandle: agents[to]!.handle,
        createdAtMs,
      };
    });
    file.set(plain(feedKey(events.at(-1)!.id)), encodeBlock(events), expiresAtMs);
    const delta = encodeCounts(mergeCounts(events.map(countOf)));
    const name = `filled-${minuteOf(createdAtMs)}-${group}`;
    file.set(plain(deltaKey(name)), delta, expiresAtMs);
  }
  file.set(["slot", 0, "ceiling"], messages.at(-1)!.id);
  file.set(plain(MESSAGE_COUNT), new Sum(BigInt(messages.length)));

  // Mailbox by mailbox, which the store's file takes several times as fast as in the order of time.
  const last = { from: new Map<number, number>(), to: new Map<number, number>() };
  for (const [column, box] of [["to", "inbox"], ["from", "outbox"]] as const) {
    for (const message of messages.toSorted((a, b) => a[column] - b[column])) {
      const { id, createdAtMs, from, to } = message;
      const rows = messageRows(agents[from]!, agents[to]!, id, createdAtMs);
      file.set(rows[box].key, rows[box].value, expiresAtMs);
      last[column].set(message[column], id);
    }
  }
  for (const [at, head] of last.to) {
    file.set(plain(inKey(agents[at]!.id)), { ...newInRecord(), head });
  }
  for (const [at, head] of last.from) {
    file.set(plain(outKey(agents[at]!.id)), { ...newOutRecord("self"), head });
  }
}

/** An agent as the rows of its messages name it. */
export type Correspondent = Pick<Identity, "id" | "address" | "handle" | "wordName">;

export function correspondent(id: number): Correspondent {
  const publicKey = publicKeyOf(id);
  return {
    id,
    address: encodeAddress(publicKey),
    handle: handleOf(id),
    wordName: wordName(publicKey),
  };
}

/** What the store holds of one message in the mailboxes of both, with a body of 200 bytes. */
export function messageRows(
  sender: Correspondent,
  recipient: Correspondent,
  id: number,
  createdAtMs: number,
): Record<"inbox" | "outbox", { key: PlainKey; value: unknown }> {
  const contentHash = "0".repeat(64);
  const body = `{"text":"${TEXT}"}`;
  const signedAt = Math.floor(createdAtMs / 1000);
  const { json, bodyAt } = encodeMessage(
    {
      sender: sender as Identity, // its verifying key is in no row
      recipientId: recipient.id,
      request: {
        to: recipient.address,
        body,
        contentHash,
        contentType: "text",
        inReplyTo: null,
        bodySizeBytes: body.length,
        written: { inReplyTo: "absent", contentType: "absent" },
      } as Parameters<typeof encodeMessage>[0]["request"],
      signature: "A".repeat(86) + "==",
      canonicalString: `relay:v1:POST:/v1/messages:${contentHash}:${signedAt}`,
    },
    id,
    createdAtMs,
  );
  const row = encodeRow({
    senderId: sender.id,
    createdAtMs,
    contentHash,
    bodyAt,
    bodySizeBytes: body.length,
    request: { to: recipient.address, inReplyTo: "absent", contentType: "absent" },
    json,
    pieces: 0,
  });
  const sent: OutboxRow = { v: 1, recipientId: recipient.id, deliveredAtMs: null, createdAtMs };
  return {
    inbox: { key: plain(inboxKey(recipient.id, id)), value: row },
    outbox: { key: plain(outboxKey(sender.id, id)), value: sent },
  };
}

/**
 * The folder of a store with so many agents and messages: filled once and kept, no older than a day.
 * Rows that write into it take a copy.
 */
export async function storedNetwork(
  { agents, messages }: StoreSize,
  { keptFolder, random, progress }: Pick<Context, "keptFolder" | "random" | "progress">,
): Promise<string> {
  const folder = `${keptFolder}agents-${agents}-messages-${messages}`;
  const stamp = `${folder}/filled-at`;
  const filledMs = Number(await Deno.readTextFile(stamp).catch(() => "0"));
  if (Date.now() - filledMs < DAY_MS) return folder;
  const shown = (count: number) => count.toLocaleString("en");
  progress(`writing a store of ${shown(agents)} agents and ${shown(messages)} messages`);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  const nowMs = Date.now();
  {
    using file = await KvFile.open(`${folder}/relay.kv`);
    const filled = fillAgents(file, agents, { random, nowMs });
    if (messages > 0) fillMessages(file, messages, { agents: filled, random, nowMs });
  }
  await Deno.writeTextFile(stamp, String(nowMs));
  return folder;
}

/** A copy of a kept store in a folder of its own, for rows that write into it. */
export async function copyStore(from: string, to: string): Promise<string> {
  await Deno.mkdir(to, { recursive: true });
  for (const suffix of ["", "-wal"]) {
    await Deno.copyFile(`${from}/relay.kv${suffix}`, `${to}/relay.kv${suffix}`).catch((error) => {
      if (suffix === "" || !(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
  return to;
}
