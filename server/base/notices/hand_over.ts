import type { Mailer, MailOutcome, OutgoingMail } from "../mailer/mailer.ts";
import type { AttemptOutcome, OutgoingItem } from "../outgoing/outgoing_handler.ts";

export interface HandingOver<P> {
  /**
   * Asked between the next hop's 354 and the content, for what may have changed meanwhile.
   * @returns what becomes of the row where the mail is not to go out now; else null
   */
  withdraw(): Promise<AttemptOutcome<P> | null>;
  /** What becomes of the row by what the next hop said. */
  settle(outcome: MailOutcome): AttemptOutcome<P>;
}

class Withdrawn extends Error {
  constructor(readonly outcome: AttemptOutcome<never>) {
    super("the mail was withdrawn");
  }
}

/**
 * One transaction with the next hop, in which nothing of the content leaves before it was asked whether
 * that is still wanted, and stored that it may have left.
 * @throws LeaseLost as OutgoingItem.commitData()
 */
export async function handOver<P>(
  mailer: Mailer,
  mail: OutgoingMail,
  { signal, commitData }: Pick<OutgoingItem, "signal" | "commitData">,
  { withdraw, settle }: HandingOver<P>,
): Promise<AttemptOutcome<P>> {
  try {
    const outcome = await mailer.send(mail, {
      signal,
      async beforeContent() {
        const withdrawn = await withdraw();
        if (withdrawn !== null) throw new Withdrawn(withdrawn as AttemptOutcome<never>);
        await commitData();
      },
    });
    return settle(outcome);
  } catch (error) {
    if (error instanceof Withdrawn) return error.outcome;
    throw error;
  }
}
