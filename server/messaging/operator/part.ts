/** What the operator may do, as a part of the relay, with the purges that go on behind it. */
import type { AgentCore } from "../agents/agent_core.ts";
import { describeFailure } from "../../base/describe_failure.ts";
import { mount } from "../../base/description/declaration.ts";
import type { RecentMessages } from "../messages/rows/recent_messages.ts";
import type { StoredMessages } from "../messages/rows/stored_messages.ts";
import type { Part } from "../../base/parts/part.ts";
import { OperatorActions, type OperatorActionsOptions } from "./operator_actions.ts";
import { BanList } from "./ban_list.ts";
import { Purges } from "./purges.ts";
import { OPERATOR_ROUTES } from "./routes.ts";

export interface OperatorOptions extends Pick<OperatorActionsOptions, "sweep"> {
  messages: StoredMessages;
  recent: RecentMessages;
}

export interface Operator extends Part {
  actions: OperatorActions;
}

export function openOperator(
  core: AgentCore,
  { messages, recent, sweep }: OperatorOptions,
): Operator {
  const { store, commits, leases, identities, deps: { log } } = core;
  const { retentionMs } = messages;
  const bans = new BanList({ store, commits, identities });
  const purges = new Purges({ store, commits, leases, recent, retentionMs, log });
  const actions = new OperatorActions({ identities, commits, bans, purges, log, sweep });
  return {
    actions,
    routes: mount(OPERATOR_ROUTES, { ...core, actions }),
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
