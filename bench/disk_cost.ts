/** What one stored message costs the disk: bytes written, bytes kept, and syncs. */
import { join } from "node:path";
import { drive } from "./load.ts";
import { randomSends } from "./rows/sends.ts";
import type { Context, StoreSize } from "./row.ts";
import { startChild } from "./servers/child.ts";
import { copyStore, storedAgents, storedNetwork } from "./stored_network.ts";

const AGENTS = 2_000;
/** What the costs are measured on. */
export const DISK_STORE: StoreSize = { agents: AGENTS, messages: 0 };
const SENDS = 6_000;

export interface DiskCost {
  connections: number;
  /** Bytes a message that the process had written to the disk, log and file together. */
  writtenBytes: number;
  /** Bytes that each message adds to the closed file. */
  keptBytes: number;
  /** Calls of fsync() and fdatasync() a message; null where strace is not installed. */
  syncs: number | null;
}

/** Each measured on a store of its own, the syncs in a run of their own under strace. */
export async function measureDiskCost(context: Context): Promise<DiskCost[]> {
  const costs: DiskCost[] = [];
  const from = await storedNetwork(DISK_STORE, context);
  const agents = storedAgents(AGENTS);
  for (const connections of [64, 1]) {
    const sends = context.count(connections === 1 ? SENDS / 3 : SENDS);
    const run = async (name: string, tracer: string[]) => {
      const folder = await copyStore(from, join(context.temporaryFolder, `${name}-${connections}`));
      const path = join(folder, "relay.kv");
      const { size: sizeBefore } = await Deno.stat(path);
      const relay = await startChild<{ port: number }>("relay.ts", { folder }, tracer);
      const read = async () =>
        tracer.length > 0 ? await countSyncs(tracer.at(-1)!) : await writtenBytes(relay.pid);
      const before = await read();
      const requests = randomSends(agents, sends, context.random);
      await drive(relay, requests, { connections, status: 201 });
      const used = await read() - before;
      await relay.stop();
      return { used, grownBytes: (await Deno.stat(path)).size - sizeBefore };
    };
    const plain = await run("plain", []);
    const log = join(context.temporaryFolder, `syncs-${connections}`);
    const traced = await hasStrace()
      ? await run("traced", [
        ...["strace", "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync", "-o", log],
      ])
      : null;
    const cost = {
      connections,
      writtenBytes: Math.round(plain.used / sends),
      keptBytes: Math.round(plain.grownBytes / sends),
      syncs: traced === null ? null : Number((traced.used / sends).toPrecision(3)),
    };
    context.progress(
      `${connections} connections: ${cost.writtenBytes} bytes written, ${cost.keptBytes} kept, ` +
        `${cost.syncs ?? "no strace to count"} syncs a message`,
    );
    costs.push(cost);
  }
  return costs;
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
