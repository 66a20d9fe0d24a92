/** What the operator may do, as a part of the relay, with the purges that go on behind it. */
import type { AgentCore } from "../agents/agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import { OperatorActions, type OperatorOptions } from "./operator_actions.ts";
import { OPERATOR_ROUTES } from "./routes.ts";

export interface Operator extends Part {
  actions: OperatorActions;
}

export function openOperator(core: AgentCore, options: OperatorOptions): Operator {
  const actions = new OperatorActions(core, options);
  const { bans, purges } = actions;
  return {
    actions,
    routes: mount(OPERATOR_ROUTES, { ...core, actions }),
    start: () => actions.goOnPurging(),
    everyMinute: () => purges.run(),
    async close() {
      await bans.close();
      await purges.close();
    },
  };
}
