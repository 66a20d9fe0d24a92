/** The operator's routes as a part of the relay, with the purges that go on behind them. */
import type { Core } from "../core.ts";
import { describeFailure } from "../http/describe_failure.ts";
import type { RecentMessages } from "../messages/rows/recent_messages.ts";
import type { StoredMessages } from "../messages/rows/stored_messages.ts";
import type { Part } from "../part.ts";
import { BanList } from "./ban_list.ts";
import { Purges } from "./purges.ts";
import { adminRoutes, type AdminServices } from "./routes.ts";

export interface AdminOptions extends Pick<AdminServices, "sweep"> {
  messages: StoredMessages;
  recent: RecentMessages;
}

export function openAdmin(core: Core, { messages, recent, sweep }: AdminOptions): Part {
  const { store, commits, leases, identities, limits } = core;
  const { config, kv, log } = core.deps;
  const { retentionMs } = messages;
  const bans = new BanList({ kv, commits, identities });
  const purges = new Purges({ store, commits, leases, recent, retentionMs, log });
  return {
    routes: adminRoutes({
      ...core,
      adminToken: config.adminToken,
      rawBodyBytes: limits.rawBodyBytes,
      bans,
      purges,
      log,
      sweep,
    }),
    start() {
      purges.run().catch((error) => log("purge_stopped", describeFailure(error)));
    },
    everyMinute: () => purges.run(),
    async close() {
      await bans.close();
      await purges.close();
    },
  };
}
