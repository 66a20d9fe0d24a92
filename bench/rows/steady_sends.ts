/**
 * Sends in a steady state: rows expire as fast as they are written, and with --steady memory holds as
 * many signatures as it ever will.
 */
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { encodeUse, useGroupKey } from "../../server/messaging/messages/send/use_group.ts";
import { lowestIdAt } from "../../server/base/storage/commits/id_sequence.ts";
import { countRows } from "../../tests/support/expired_rows.ts";
import { countExpired, KvFile, type PlainKey } from "../kv_file.ts";
import type { Row } from "../row.ts";
import { type Child, startChild } from "../servers/child.ts";
import {
  copyStore,
  correspondent,
  messageRows,
  storedAgents,
  storedNetwork,
} from "../stored_network.ts";
import { sendRound } from "./sends.ts";

const AGENTS = 2_000;
const ROUNDS = 5;
/** Signatures pass for five minutes; memory keeps them for one more. */
const FIRST_MINUTES_MS = 7 * 60_000;
/** How long after its signed time the relay deletes the row of a signature. */
const SIGNATURE_KEPT_MS = 7_561_000;
const RETENTION_MS = 30 * 86_400_000;
/** Sends that keep the store's deletions going are somewhat slower than those to an empty store. */
const EXPECTED_SHARE = 0.85;
/** A warm-up and the rounds of both sides, and as many again for a machine that slows down. */
const MEASURED_ROUNDS = 2 * 2 * (ROUNDS + 1);
/** Sends of one commit under load, about. */
const SENDS_A_GROUP = 30;
const ROWS_A_MESSAGE = 2 + 1 / SENDS_A_GROUP;

export const steadySends: Row = {
  id: "sends-steady",
  title: "signed sends while as many rows expire as are written, after the process's first seven " +
    "minutes, against an empty store",
  unit: "/s",
  target: { rule: "at least", ratio: 0.75 },
  rounds: ROUNDS,
  stores: [{ agents: AGENTS, messages: 0 }],
  async prepare(context) {
    const { temporaryFolder, progress, steady } = context;
    const from = await storedNetwork({ agents: AGENTS, messages: 0 }, context);
    const [steadyFolder, emptyFolder] = await Promise.all(
      ["steady", "empty"].map((name) => copyStore(from, join(temporaryFolder, name))),
    );
    const agents = storedAgents(AGENTS);
    const send = (relay: Child<{ port: number }>) => sendRound(relay, agents, context);
    const empty = await startChild<{ port: number }>("relay.ts", { folder: emptyFolder });

    let beganMs = performance.now();
    await send(empty);
    const roundMs = performance.now() - beganMs;
    const { value: emptyRate } = await send(empty);
    const perSecond = Math.round(emptyRate * EXPECTED_SHARE);
    const forMs = (steady ? FIRST_MINUTES_MS : 0) + 10_000 + MEASURED_ROUNDS * roundMs;
    const count = Math.round(perSecond * forMs / 1_000);
    progress(
      `writing ${
        Math.round(count * ROWS_A_MESSAGE).toLocaleString("en")
      } rows that expire meanwhile`,
    );
    const firstExpiryMs = Date.now() + count / 25; // about what writing them takes
    const lastExpiryMs = firstExpiryMs + forMs;
    const path = join(steadyFolder!, "relay.kv");
    await writeExpiringMessages(path, { count, firstExpiryMs, lastExpiryMs });

    const relay = await startChild<{ port: number }>("relay.ts", {
      folder: steadyFolder,
      clockBehindMs: steady ? 0 : FIRST_MINUTES_MS,
    });
    beganMs = performance.now();
    if (steady) {
      progress("sending for seven minutes");
      while (performance.now() - beganMs < FIRST_MINUTES_MS) await send(relay);
    } else {
      await relay.ask("catch up");
    }
    const rates: number[] = [];
    return {
      async ours() {
        const round = await send(relay);
        rates.push(round.value);
        if (Date.now() > lastExpiryMs) throw new Error("no row was left that expires");
        return round;
      },
      reference: () => send(empty),
      note() {
        const written = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
        const overdue = countExpired(path, Date.now());
        return `${(perSecond / written).toFixed(2)} rows expired for each that was written; ` +
          `${overdue.toLocaleString("en")} of ${countRows(path).rows.toLocaleString("en")} rows ` +
          `overdue at the end; ${
            steady ? "seven minutes of sends before" : "the clock was moved over the seven minutes"
          }`;
      },
      async close() {
        await relay.stop();
        await empty.stop();
      },
    };
  },
};

/** Messages of a month ago, and signatures of two hours ago, one after the other about to be deleted. */
async function writeExpiringMessages(
  path: string,
  { count, firstExpiryMs, lastExpiryMs }: {
    count: number;
    firstExpiryMs: number;
    lastExpiryMs: number;
  },
): Promise<void> {
  const agents = Array.from({ length: AGENTS }, (_, i) => correspondent(i + 1));
  const stepMs = (lastExpiryMs - firstExpiryMs) / count;
  using file = await KvFile.open(path);
  let uses: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const sender = agents[(i * 7) % AGENTS]!;
    const recipient = agents[(i * 13 + 5) % AGENTS]!;
    const expiresAtMs = Math.floor(firstExpiryMs + i * stepMs);
    const createdAtMs = expiresAtMs - RETENTION_MS;
    const id = lowestIdAt(createdAtMs) + 256 * (i % 16);
    const signedAtMs = expiresAtMs - SIGNATURE_KEPT_MS;
    const timestampSeconds = Math.floor(signedAtMs / 1_000);
    const signature = crypto.getRandomValues(new Uint8Array(64));
    const contentHash = "0".repeat(64);
    uses.push(encodeUse({ signature, timestampSeconds, agentId: sender.id, id, contentHash }));
    if (uses.length === SENDS_A_GROUP) {
      const attempt = i.toString(16).padStart(24, "0");
      const key = useGroupKey(timestampSeconds, { attempt, nowMs: signedAtMs });
      file.set(key as PlainKey, new Uint8Array(Buffer.concat(uses)));
      uses = [];
    }
    const rows = messageRows(sender, recipient, id, createdAtMs);
    for (const { key, value } of Object.values(rows)) {
      file.set(key, value, expiresAtMs);
    }
  }
}
