/** What the operator does to agents, by the API and by the pages alike. */
import type { Identity } from "../agents/agent_records.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import type { Identities } from "../agents/identities.ts";
import { describeFailure } from "../../base/describe_failure.ts";
import type { RecentMessages } from "../messages/rows/recent_messages.ts";
import type { StoredMessages } from "../messages/rows/stored_messages.ts";
import { setBanned } from "./ban_agent.ts";
import { BanList } from "./ban_list.ts";
import { Purges } from "./purges.ts";

export interface OperatorOptions {
  messages: StoredMessages;
  recent: RecentMessages;
  /** Corrects the network's figures after a change; waits for it, but not for long. */
  sweep(): Promise<void>;
}

export class OperatorActions {
  readonly identities: Identities;
  readonly bans: BanList;
  readonly purges: Purges;

  constructor(
    private readonly core: AgentCore,
    private readonly options: OperatorOptions,
  ) {
    const { recent, messages: { retentionMs } } = options;
    this.identities = core.identities;
    this.bans = new BanList(core);
    this.purges = new Purges({ ...core, recent, retentionMs, log: core.deps.log });
  }

  /** @param reason the operator's words, at most 200 characters; null for none */
  async ban(agent: Identity, reason: string | null): Promise<void> {
    await setBanned(this.core.commits, agent, true, reason);
    this.core.deps.log("agent_banned", { handle: agent.handle, reason });
    await this.options.sweep();
  }

  async unban(agent: Identity): Promise<void> {
    await setBanned(this.core.commits, agent, false);
    this.core.deps.log("agent_unbanned", { handle: agent.handle });
    await this.options.sweep();
  }

  /**
   * Accepts the purge of all that a banned agent has sent; it goes on in the background.
   * @throws RelayError `invalid_json` for an agent that is not banned
   */
  async purge(agent: Identity): Promise<void> {
    await this.purges.begin(agent);
    this.core.deps.log("purge_begun", { handle: agent.handle });
    this.goOnPurging();
  }

  /** Works in the background; what fails is logged, and the next minute tries again. */
  goOnPurging(): void {
    const { log } = this.core.deps;
    this.purges.run().catch((error) => log("purge_stopped", describeFailure(error)));
  }
}
