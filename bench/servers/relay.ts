/** A relay with a store of its own in a given folder, and limits too high to matter. */
import { parseConfig } from "../../server/config.ts";
import type { Deps } from "../../server/deps.ts";
import { openRelay, type RelayOptions } from "../../server/relay.ts";
import { serve } from "../../server/serve.ts";
import { EMBEDDED_CAPACITY } from "../../server/storage/store.ts";
import { answerLines } from "./child.ts";

export interface RelayArgument {
  folder: string;
  /** Commits of one job each: the path without grouping. */
  ungrouped?: boolean;
  /** Every page is read from the store. */
  forgetful?: boolean;
  limits?: Record<string, number>;
}

const { folder, ungrouped, forgetful, limits }: RelayArgument = JSON.parse(Deno.args[0]!);
const kv = await Deno.openKv(`${folder}/relay.kv`);
const log = (event: string, fields?: unknown) => console.error(event, fields);
const deps: Deps = {
  config: parseConfig({
    PORT: "0",
    RELAY_DATA_DIR: folder,
    RELAY_LIMITS: JSON.stringify({
      sendsPerAgentPerMinute: 100_000_000,
      registrationsPerIpPerHour: 100_000_000,
      searchesPerIpPerMinute: 100_000_000,
      toolRegistrationsPerIpPerHour: 100_000_000,
      inboxPollIntervalMs: 0,
      retainedBytesPerSender: 2 ** 50,
      storedBytesPerIpPerHour: 2 ** 50,
      profileChangesPerAgentPerMinute: 100_000_000,
      minFreeDiskBytes: 0,
      ...limits,
    }),
  }),
  kv,
  now: Date.now,
  random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  fetch,
  log,
};
const options: RelayOptions = {
  ...(ungrouped ? { capacity: { ...EMBEDDED_CAPACITY, jobs: 1 } } : {}),
  ...(forgetful ? { recentMessages: { bytes: 0, messagesAnInbox: 0, messageBytes: 0 } } : {}),
};
const relay = await openRelay(deps, options);
const serving = serve(relay, { host: "127.0.0.1", port: 0, log });
console.log(JSON.stringify({ port: serving.port }));
// "tidy": what runs every minute, now.
await answerLines((line) => line === "tidy" ? relay.crons["figures"]!().then(() => true) : null);
await serving.stop();
kv.close();
