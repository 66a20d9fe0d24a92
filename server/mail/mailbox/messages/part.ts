/** Messages and threads as a part of the mail area: how they are read and changed, and when they go. */
import { mount } from "../../../base/description/declaration.ts";
import type { Part } from "../../../base/parts/part.ts";
import type { MessageRouteServices } from "./list_route.ts";
import { MESSAGE_ROUTES } from "./message_routes.ts";
import { OrgAnswerBudget } from "./org_answer_budget.ts";
import { Retention } from "./retention.ts";
import { THREAD_ROUTES } from "./thread_routes.ts";

export function openMessages(core: Omit<MessageRouteServices, "answerBudget">): Part {
  const { answers, deps: { log } } = core;
  const retention = new Retention({ ...core, log });
  return {
    routes: mount([...MESSAGE_ROUTES, ...THREAD_ROUTES], {
      ...core,
      answerBudget: new OrgAnswerBudget(answers),
    }),
    start: () => retention.begin(),
    everyMinute: () => retention.run(),
    close: () => retention.close(),
  };
}
