/** What one stored message, mail in and mail out costs the disk: bytes and rows, written and kept, and syncs. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { delay } from "../tests/support/pace.ts";
import { drive } from "./load.ts";
import { inboundRequest, type MailBox, openMailBox, sampleMail } from "./mail_box.ts";
import type { Context, StoreSize } from "./row.ts";
import { mailSendRequest, startWorld, untilTaken } from "./rows/mail_out.ts";
import { randomSends } from "./rows/sends.ts";
import { type Child, startChild } from "./servers/child.ts";
import type { RelayArgument } from "./servers/relay.ts";
import { copyStore, storedAgents, storedNetwork } from "./stored_network.ts";

const AGENTS = 2_000;
/** What the costs of sends are measured on. */
export const DISK_STORE: StoreSize = { agents: AGENTS, messages: 0 };
const SENDS = 6_000;
const LONE_SENDS = 2_000;
const MAILS = 2_000;
const INBOXES = 50;
const ORGS = 24;
/** A relay that has written nothing for so long has stored what was asked of it. */
const SETTLED_MS = 200;

export type DiskWork = "send" | "mail in" | "mail out";

export interface DiskCost {
  /** What was done; results of former times are of sends. */
  what?: DiskWork;
  connections: number;
  /** Bytes that the process had written to the disk, log, file and blobs together. */
  writtenBytes: number;
  /** Bytes by which the closed store and its blobs grew. */
  keptBytes: number;
  /** Rows set, added to and deleted, and rows by which the store grew. */
  rowsWritten?: number;
  rowsKept?: number;
  /** Calls of fsync() and fdatasync(); null where strace is not installed. */
  syncs: number | null;
}

type Relay = Child<{ port: number }>;

/** A closed store and what is done with it. */
interface Prepared {
  relay?: Partial<RelayArgument>;
  run(relay: Relay): Promise<void>;
  close?(): Promise<void>;
}

interface Work {
  what: DiskWork;
  connections: number;
  times: number;
  /** @param folder where the store is to be, which is not there yet */
  prepare(work: Work, folder: string, context: Context): Promise<Prepared>;
}

const works: readonly Work[] = [
  { what: "send", connections: 64, times: SENDS, prepare: prepareSends },
  { what: "send", connections: 1, times: LONE_SENDS, prepare: prepareSends },
  { what: "mail in", connections: 64, times: MAILS, prepare: prepareMailIn },
  { what: "mail out", connections: 16, times: MAILS, prepare: prepareMailOut },
];

async function prepareSends(
  { connections, times }: Work,
  folder: string,
  context: Context,
): Promise<Prepared> {
  await copyStore(await storedNetwork(DISK_STORE, context), folder);
  const requests = randomSends(storedAgents(AGENTS), times, context.random);
  return { run: async (relay) => void await drive(relay, requests, { connections, status: 201 }) };
}

async function prepareMailIn({ connections, times }: Work, folder: string): Promise<Prepared> {
  await Deno.mkdir(folder);
  const relay = await startChild<{ port: number }>("relay.ts", { folder, mail: true });
  const boxes: MailBox[] = [];
  for (let i = 0; i < INBOXES; i++) boxes.push(await openMailBox(relay.ready.port));
  await relay.stop();
  return {
    relay: { mail: true },
    async run(relay) {
      const mails = Array.from(
        { length: times },
        (_, i) => inboundRequest(boxes[i % INBOXES]!.address, sampleMail().raw),
      );
      await drive(relay, mails, { connections, status: 200 });
    },
  };
}

async function prepareMailOut({ connections, times }: Work, folder: string): Promise<Prepared> {
  await Deno.mkdir(folder);
  const { sink, relay, boxes } = await startWorld(folder, ORGS);
  await relay.stop();
  return {
    relay: { mail: true, nextHopPort: sink.ready.port },
    async run(relay) {
      const mails = Array.from({ length: times }, (_, i) => mailSendRequest(boxes[i % ORGS]!, {}));
      await drive(relay, mails, { connections, status: 202 });
      await untilTaken(sink, times);
    },
    close: () => sink.stop(),
  };
}

/** Each measured on a store of its own, the syncs in a run of their own under strace. */
export async function measureDiskCost(context: Context): Promise<DiskCost[]> {
  const costs: DiskCost[] = [];
  for (const usual of works) {
    const work = { ...usual, times: context.count(usual.times) };
    const { what, connections, times } = work;
    const each = (used: number) => Number((used / times).toPrecision(3));
    const name = `${what} ${connections}`;
    const plain = await inRelay(work, join(context.temporaryFolder, name), context);
    const log = join(context.temporaryFolder, `${name} syncs`);
    const traced = await hasStrace()
      ? await inRelay(work, join(context.temporaryFolder, `${name} traced`), context, log)
      : null;
    const cost: DiskCost = {
      what,
      connections,
      writtenBytes: Math.round(plain.writtenBytes / times),
      keptBytes: Math.round(plain.keptBytes / times),
      rowsWritten: each(plain.rowsWritten),
      rowsKept: each(plain.rowsKept),
      syncs: traced === null ? null : each(traced.syncs),
    };
    context.progress(
      `a ${what}, ${connections} connections: ${cost.writtenBytes} bytes written, ${cost.keptBytes} ` +
        `kept, ${cost.rowsWritten} rows written, ${cost.rowsKept} kept, ` +
        `${cost.syncs ?? "no strace to count"} syncs`,
    );
    costs.push(cost);
  }
  return costs;
}

/** @param log where strace notes syncs; without it nothing is traced, and no syncs are counted */
async function inRelay(work: Work, folder: string, context: Context, log?: string) {
  const prepared = await work.prepare(work, folder, context);
  const before = { bytes: await bytesOf(folder), rows: countRows(folder) };
  const tracer = log === undefined
    ? []
    : ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync", "-o", log];
  const argument: RelayArgument = { folder, ...prepared.relay };
  const relay = await startChild<{ port: number }>("relay.ts", argument, tracer);
  try {
    const read = async () => ({
      rows: await settledWrites(relay),
      bytes: log === undefined ? await writtenBytes(relay.pid) : 0,
      syncs: log === undefined ? 0 : await countSyncs(log),
    });
    const began = await read();
    await prepared.run(relay);
    const ended = await read();
    await relay.stop();
    return {
      writtenBytes: ended.bytes - began.bytes,
      rowsWritten: ended.rows - began.rows,
      syncs: ended.syncs - began.syncs,
      keptBytes: await bytesOf(folder) - before.bytes,
      rowsKept: countRows(folder) - before.rows,
    };
  } finally {
    await relay.stop();
    await prepared.close?.();
  }
}

/** @returns rows that the relay has written, once it writes none any more */
async function settledWrites(relay: Relay): Promise<number> {
  for (let before = -1;;) {
    const writes = await relay.ask<number>("writes");
    if (writes === before) return writes;
    before = writes;
    await delay(SETTLED_MS);
  }
}

function countRows(folder: string): number {
  using db = new DatabaseSync(join(folder, "relay.kv"), { readOnly: true });
  return Number(db.prepare("SELECT count(*) AS rows FROM kv").get()!["rows"]);
}

/** Bytes of all files below a folder. */
async function bytesOf(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    bytes += isDirectory ? await bytesOf(path) : (await Deno.stat(path)).size;
  }
  return bytes;
}

async function writtenBytes(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/io`);
  return Number(/^write_bytes: (\d+)$/m.exec(text)?.[1]);
}

/** Calls in a log of strace; the second line of one that was interrupted has no bracket after its name. */
async function countSyncs(log: string): Promise<number> {
  return (await Deno.readTextFile(log)).match(/\bf(?:data)?sync\(/g)?.length ?? 0;
}

async function hasStrace(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command("strace", { args: ["-V"], stdout: "null" }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
