import type { Mailer, MailOutcome, OutgoingMail } from "../mailer/mailer.ts";
import type { AttemptOutcome, OutgoingItem } from "../outgoing/outgoing_handler.ts";

class Withdrawn extends Error {
  constructor(readonly outcome: AttemptOutcome<never>) {
    super("the mail was withdrawn");
  }
}

/**
 * One transaction with the next hop. Between its 354 and the content it is asked whether the mail is still
 * wanted, and then stored that the content may have left.
 * @param ways.withdraw what becomes of the row where the mail is not to go out now; null where it is
 * @param ways.settle what becomes of it by what the next hop said
 * @throws LeaseLost as OutgoingItem.commitData()
 */
export async function handOver<P>(
  mailer: Mailer,
  mail: OutgoingMail,
  { signal, commitData }: Pick<OutgoingItem, "signal" | "commitData">,
  ways: {
    withdraw(): Promise<AttemptOutcome<P> | null>;
    settle(outcome: MailOutcome): AttemptOutcome<P>;
  },
): Promise<AttemptOutcome<P>> {
  try {
    const outcome = await mailer.send(mail, {
      signal,
      async beforeContent() {
        const withdrawn = await ways.withdraw();
        if (withdrawn !== null) throw new Withdrawn(withdrawn as AttemptOutcome<never>);
        await commitData();
      },
    });
    return ways.settle(outcome);
  } catch (error) {
    if (error instanceof Withdrawn) return error.outcome;
    throw error;
  }
}
