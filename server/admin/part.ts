/** The operator's routes and pages as a part of the relay, with the purges that go on behind them. */
import type { Core } from "../core.ts";
import { describeFailure } from "../http/describe_failure.ts";
import type { RecentMessages } from "../messages/rows/recent_messages.ts";
import type { StoredMessages } from "../messages/rows/stored_messages.ts";
import type { Part } from "../part.ts";
import { OperatorActions, type OperatorActionsOptions } from "./operator_actions.ts";
import { BanList } from "./ban_list.ts";
import type { RelayStatus } from "./pages/relay_status.ts";
import { adminPageRoutes } from "./pages/routes.ts";
import { Purges } from "./purges.ts";
import { adminRoutes } from "./routes.ts";

export interface AdminOptions extends Pick<OperatorActionsOptions, "sweep"> {
  messages: StoredMessages;
  recent: RecentMessages;
  /** What the operator's page shows. */
  status: RelayStatus;
}

export function openAdmin(core: Core, { messages, recent, sweep, status }: AdminOptions): Part {
  const { store, commits, leases, identities, limits, addressKey } = core;
  const { config, now, random, log } = core.deps;
  const { adminToken, baseUrl, trustedProxyHops } = config;
  const { retentionMs } = messages;
  const bans = new BanList({ store, commits, identities });
  const purges = new Purges({ store, commits, leases, recent, retentionMs, log });
  const actions = new OperatorActions({ identities, commits, bans, purges, log, sweep });
  return {
    routes: [
      ...adminRoutes({ adminToken, rawBodyBytes: limits.rawBodyBytes, actions }),
      ...adminPageRoutes({
        adminToken,
        baseUrl,
        trustedProxyHops,
        addressKey,
        actions,
        status,
        now,
        random,
        log,
      }),
    ],
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
