/**
 * Makes stores with many agents and messages. They are written as the relay writes them, but in
 * large operations without it. A million messages take about two minutes and one and a half
 * gigabytes.
 */
import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import type { AgentRecord } from "../server/agents/records.ts";
import { listingKey, listingOf } from "../server/directory/listing.ts";
import { inKey, newInRecord, newOutRecord, outKey } from "../server/mailboxes/records.ts";
import { inboxKey, outboxKey, type OutboxRow } from "../server/messages/rows/message_row.ts";
import { encodeRow } from "../server/messages/rows/row_codec.ts";
import { minuteOf } from "../server/network/counted.ts";
import { encodeBlock, type FeedEvent, feedKey } from "../server/network/feed_block.ts";
import { countOf } from "../server/network/record_figures.ts";
import { deltaKey, encodeCounts, mergeCounts } from "../server/network/tally_rows.ts";
import { MESSAGE_COUNT, REGISTRATION_COUNT } from "../server/network/totals.ts";
import { lowestIdAt } from "../server/storage/id_sequence.ts";
import { encodeAddress } from "../toolkit/encode_address.ts";
import { wordName } from "../toolkit/word_name.ts";

const DAY_MS = 86_400_000;
const KEPT_MS = 40 * DAY_MS;
const MUTATIONS_A_COMMIT = 900;
const BYTES_A_COMMIT = 600_000;
const AGENTS_A_WRITE = 100;
/** Sends of one group commit: one feed block and one delta. */
const SENDS_A_GROUP = 50;
const JSON_BYTES = 250;

const WORDS =
  ("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november " +
    "oscar papa quebec romeo sierra tango uniform victor whiskey yankee zulu writes poems about trains " +
    "translates legal text summarises papers weather scheduling assistant image captions helper finance " +
    "ledger search crawler").split(" ");

type Random = () => number;

/** Collects writes into operations of the size that the store takes. */
class BulkWriter {
  #operation: Deno.AtomicOperation;
  #mutations = 0;
  #bytes = 0;

  constructor(private readonly kv: Deno.Kv) {
    this.#operation = kv.atomic();
  }

  async set(key: Deno.KvKey, value: unknown, sizeBytes: number): Promise<void> {
    this.#operation.set(key, value, { expireIn: KEPT_MS });
    this.#bytes += sizeBytes + 60;
    if (++this.#mutations >= MUTATIONS_A_COMMIT || this.#bytes >= BYTES_A_COMMIT) {
      await this.flush();
    }
  }

  async flush(): Promise<void> {
    if (this.#mutations > 0) await this.#operation.commit();
    this.#operation = this.kv.atomic();
    this.#mutations = 0;
    this.#bytes = 0;
  }
}

export function pickWord(random: Random): string {
  return WORDS[Math.floor(random() * WORDS.length)]!;
}

export function handleOf(agentId: number): string {
  return `${WORDS[agentId % WORDS.length]}_${agentId}`;
}

/**
 * A key whose private half is thrown away; made by native code, since a hundred thousand are
 * needed.
 */
function makePublicKey(): Uint8Array {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return new Uint8Array(Buffer.from(x!, "base64url"));
}

/** Agents 1 to `count`, each seen some time in the last month, listed and resolvable. */
export async function fillAgents(
  kv: Deno.Kv,
  count: number,
  { random, nowMs }: { random: Random; nowMs: number },
): Promise<void> {
  const some = (words: number) => Array.from({ length: words }, () => pickWord(random));
  for (let from = 1; from <= count; from += AGENTS_A_WRITE) {
    const operation = kv.atomic();
    for (let id = from; id < Math.min(from + AGENTS_A_WRITE, count + 1); id++) {
      const publicKey = makePublicKey();
      const agent: AgentRecord = {
        v: 1,
        id,
        address: encodeAddress(publicKey),
        handle: handleOf(id),
        wordName: wordName(publicKey),
        displayName: some(2).join(" "),
        description: some(12).join(" "),
        tags: [...new Set(some(2))],
        createdAtMs: nowMs - 30 * DAY_MS + id,
        custody: "self",
        ownerTokenHash: null,
      };
      operation
        .set(["agent", id], agent)
        .set(listingKey(id), listingOf(agent))
        .set(["address", agent.address], { v: 1, id })
        .set(["handle", agent.handle], { v: 1, id })
        .set(["word", agent.wordName], { v: 1, id })
        .set(inKey(id), newInRecord())
        .set(outKey(id), newOutRecord("self"))
        .set(["seen", id], nowMs - Math.floor(random() * 30 * DAY_MS));
    }
    await operation.commit();
  }
  await kv.atomic().set(["count", "agents"], count).sum(REGISTRATION_COUNT, BigInt(count)).commit();
}

/** Messages between random ones of the first `agents` agents, spread over the last six days. */
export async function fillMessages(
  kv: Deno.Kv,
  count: number,
  { agents, random, nowMs, progress }: {
    agents: number;
    random: Random;
    nowMs: number;
    progress: (text: string) => void;
  },
): Promise<void> {
  const writer = new BulkWriter(kv);
  const stepMs = 6 * DAY_MS / (count / SENDS_A_GROUP);
  const any = () => 1 + Math.floor(random() * agents);
  const heads = new Map<string, number>();
  let lastId = 0;
  for (let group = 0; group * SENDS_A_GROUP < count; group++) {
    const createdAtMs = Math.floor(nowMs - 6 * DAY_MS + group * stepMs);
    const events: FeedEvent[] = [];
    for (let i = 0; i < SENDS_A_GROUP; i++) {
      const id = lastId = lowestIdAt(createdAtMs) + 256 * i;
      const [senderId, recipientId] = [any(), any()];
      events.push({
        id,
        senderId,
        recipientId,
        senderHandle: handleOf(senderId),
        recipientHandle: handleOf(recipientId),
        createdAtMs,
      });
      heads.set(`out/${senderId}`, id).set(`in/${recipientId}`, id);
      const row = encodeRow({
        senderId,
        createdAtMs,
        contentHash: "0".repeat(64),
        bodyAt: 0,
        bodySizeBytes: 2,
        request: { rawPieces: 1 },
        json: new Uint8Array(JSON_BYTES),
        pieces: 0,
      });
      await writer.set(inboxKey(recipientId, id), row, row.length);
      const sent: OutboxRow = { v: 1, recipientId, deliveredAtMs: null, createdAtMs };
      await writer.set(outboxKey(senderId, id), sent, 60);
    }
    await writer.set(feedKey(lastId), encodeBlock(events), 120 * SENDS_A_GROUP);
    const delta = encodeCounts(mergeCounts(events.map(countOf)));
    await writer.set(deltaKey(`filled-${minuteOf(createdAtMs)}-${group}`), delta, 2_000);
    if (group % 4_000 === 3_999) progress(`${(group + 1) * SENDS_A_GROUP} of ${count} messages`);
  }
  await writer.flush();
  const operation = kv.atomic().sum(MESSAGE_COUNT, BigInt(count)).set(
    ["slot", 0, "ceiling"],
    lastId,
  );
  await operation.commit();
  for (const [name, head] of heads) {
    const [box, id] = name.split("/") as ["in" | "out", string];
    const key = box === "in" ? inKey(Number(id)) : outKey(Number(id));
    const record = box === "in" ? newInRecord() : newOutRecord("self");
    await kv.set(key, { ...record, head });
  }
}

/**
 * A store that is filled once and kept: the folder of `name`, its store no older than a day.
 * @param fill writes the store
 */
export async function keptStore(
  keptFolder: string,
  name: string,
  fill: (kv: Deno.Kv) => Promise<void>,
): Promise<string> {
  const folder = `${keptFolder}/${name}`;
  const stamp = `${folder}/filled-at`;
  const filledMs = Number(await Deno.readTextFile(stamp).catch(() => "0"));
  if (Date.now() - filledMs < DAY_MS) return folder;
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  const kv = await Deno.openKv(`${folder}/relay.kv`);
  await fill(kv);
  kv.close();
  await Deno.writeTextFile(stamp, String(Date.now()));
  return folder;
}
