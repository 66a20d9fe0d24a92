/** Several relay processes on one embedded file. */
import { join } from "node:path";
import { bindingKey, type BindingRow } from "../../server/messaging/agents/identities.ts";
import type { Limits } from "../../server/base/config/limits.ts";
import { pollKey } from "../../server/messaging/messages/inbox/poll_record.ts";
import { delay } from "./pace.ts";
import { type SpawnedRelay, spawnRelay } from "./spawn_relay.ts";
import type { Target } from "./test_agent.ts";
import { realTarget } from "./traffic.ts";

export interface RelayProcesses extends AsyncDisposable {
  dataDir: string;
  kvPath: string;
  relays: SpawnedRelay[];
  targets: Target[];
  /** Starts one more process. */
  add(options?: RelayProcessOptions): Promise<{ relay: SpawnedRelay; target: Target }>;
  /** Opens the store as another process on it does. */
  withKv<T>(use: (kv: Deno.Kv) => Promise<T>): Promise<T>;
  /**
   * Resolves when the store holds a first poll of the agent: a waiting poll has then begun to wait.
   */
  polled(handle: string): Promise<void>;
}

export interface RelayProcessOptions {
  env?: Record<string, string>;
  entry?: string;
}

/** Starts the processes one after the other; disposing of the result kills them. */
export async function startRelayProcesses(
  size: number,
  options: RelayProcessOptions & { limits?: Partial<Limits> } = {},
): Promise<RelayProcesses> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-processes-" });
  const kvPath = join(dataDir, "relay.kv");
  const processes: RelayProcesses = {
    dataDir,
    kvPath,
    relays: [],
    targets: [],
    async add(member = {}) {
      const relay = await spawnRelay({
        entry: member.entry ?? options.entry,
        env: {
          RELAY_DATA_DIR: dataDir,
          RELAY_SHARED_STORE: "true",
          ...(options.limits === undefined ? {} : { RELAY_LIMITS: JSON.stringify(options.limits) }),
          ...options.env,
          ...member.env,
        },
      });
      const target = realTarget(relay.url);
      processes.relays.push(relay);
      processes.targets.push(target);
      return { relay, target };
    },
    async withKv(use) {
      const kv = await Deno.openKv(kvPath);
      try {
        return await use(kv);
      } finally {
        kv.close();
      }
    },
    polled: (handle) =>
      processes.withKv(async (kv) => {
        const { value } = await kv.get<BindingRow>(bindingKey("handle", handle));
        while ((await kv.get(pollKey(value!.id))).value === null) await delay(10);
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.relays.map((relay) => relay.kill("SIGKILL")));
      await Deno.remove(dataDir, { recursive: true });
    },
  };
  for (let i = 0; i < size; i++) await processes.add();
  return processes;
}
