/** HTTP as a part of the relay: the bodies that are read and the answers that wait to be taken. */
import { AnswerBudget, type AnswerBudgetOptions } from "./answers/answer_budget.ts";
import { RefusalCounts } from "./answers/refusal_counts.ts";
import { RequestsUnderWay } from "./routes/requests_under_way.ts";
import { type BodyReader, createBodyReader } from "./bodies/body_reader.ts";

export interface HttpOptions {
  /** Bounds of large answers; as usual unless given. */
  answers?: AnswerBudgetOptions;
  /** What the routes read bodies by; closed with the relay. */
  bodies?: BodyReader;
}

export interface Http {
  bodies: BodyReader;
  /** Counted by the application. */
  requests: RequestsUnderWay;
  /** Counted by the application. */
  refusals: RefusalCounts;
  /** Where large answers stand until they are taken. */
  answers: AnswerBudget;
  close(): void;
}

export function openHttp(options: HttpOptions = {}): Http {
  const bodies = options.bodies ?? createBodyReader();
  const answers = new AnswerBudget(options.answers);
  return {
    bodies,
    requests: new RequestsUnderWay(),
    refusals: new RefusalCounts(),
    answers,
    close() {
      bodies.close();
      answers.close();
    },
  };
}
