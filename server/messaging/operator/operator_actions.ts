/** What the operator does to agents, by the API and by the pages alike. */
import type { Identities } from "../agents/identities.ts";
import type { Identity } from "../agents/agent_records.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import type { Log } from "../../base/log.ts";
import { describeFailure } from "../../base/describe_failure.ts";
import { setBanned } from "./ban_agent.ts";
import type { BanList } from "./ban_list.ts";
import type { Purges } from "./purges.ts";

export interface OperatorActionsOptions extends Pick<AgentCore, "identities" | "commits"> {
  bans: BanList;
  purges: Purges;
  log: Log;
  /** Corrects the network's figures after a change; waits for it, but not for long. */
  sweep(): Promise<void>;
}

export class OperatorActions {
  readonly identities: Identities;
  readonly bans: BanList;

  constructor(private readonly options: OperatorActionsOptions) {
    ({ identities: this.identities, bans: this.bans } = options);
  }

  /** @param reason the operator's words, at most 200 characters; null for none */
  async ban(agent: Identity, reason: string | null): Promise<void> {
    const { commits, sweep, log } = this.options;
    await setBanned(commits, agent, true, reason);
    log("agent_banned", { handle: agent.handle, reason });
    await sweep();
  }

  async unban(agent: Identity): Promise<void> {
    const { commits, sweep, log } = this.options;
    await setBanned(commits, agent, false);
    log("agent_unbanned", { handle: agent.handle });
    await sweep();
  }

  /**
   * Accepts the purge of all that a banned agent has sent; it goes on in the background.
   * @throws RelayError `invalid_json` for an agent that is not banned
   */
  async purge(agent: Identity): Promise<void> {
    const { purges, log } = this.options;
    await purges.begin(agent);
    log("purge_begun", { handle: agent.handle });
    purges.run().catch((error) => log("purge_stopped", describeFailure(error)));
  }
}
