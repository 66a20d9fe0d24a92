/**
 * Pages of messages under way: from the first look at their rows until their answer is taken. One
 * agent has few at a time, and few are read at a time. The bytes that are not taken yet are bounded
 * (docs/api.md, "Limits").
 */
import { RelayError } from "../../../base/errors.ts";
import type { AnswerBudget, AnswerReservation } from "../../../base/http/answers/answer_budget.ts";
import { LARGE_ANSWER_BYTES } from "../../../base/http/answers/large_answer.ts";
import { Semaphore } from "../../../base/bounds/semaphore.ts";

export interface PageBudgetOptions {
  answers: AnswerBudget;
  /** Concurrent pages of one agent. */
  perAgent: number;
  readers?: Semaphore;
}

/** Pages read at the same time: each may have megabytes. */
const PAGE_READERS = { permits: 12, maxWaiting: 5_000, refusal: tooManyPages };

/** One page; its holder ends it, or gives it away as the hold of an answer. */
export interface PageReservation extends AnswerReservation {
  /**
   * Reserves bytes for the answer. Called when its size is known and nothing has been stamped.
   * @throws RelayError `unavailable` when there are too few
   */
  reserve(sizeBytes: number): void;
  /** The page is read and stamped: others may read. */
  endReading(): void;
  /** Ends the rest of the same answer together with this page. */
  carry(other: AnswerReservation): void;
}

export class PageBudget {
  readonly #readers: Semaphore;
  readonly #ofAgents: Semaphore<number>;

  constructor(private readonly options: PageBudgetOptions) {
    this.#readers = options.readers ?? new Semaphore(PAGE_READERS);
    this.#ofAgents = new Semaphore({ permits: options.perAgent });
  }

  /**
   * Begins a page: counts it and waits until it may be read.
   * @throws RelayError `unavailable` when the agent has too many, or too many wait
   */
  async begin(agentId: number): Promise<PageReservation> {
    const { answers, perAgent } = this.options;
    const leave = this.#ofAgents.tryTake(agentId);
    if (leave === null) throw tooManyOfAgent(perAgent);
    let endReading: () => void;
    try {
      endReading = await this.#readers.take();
    } catch (error) {
      leave();
      throw error;
    }
    let reservation: AnswerReservation | null = null;
    let reservedBytes = 0;
    let isReserved = true;
    const carried: AnswerReservation[] = [];
    const ended = () => {
      if (!isReserved) return;
      isReserved = false;
      leave();
      for (const other of carried) other.end();
    };
    return {
      endReading,
      reserve(sizeBytes) {
        if (sizeBytes > LARGE_ANSWER_BYTES) {
          reservation = answers.reserve(sizeBytes, "agent", ended);
          reservedBytes = sizeBytes;
        } else endReading();
      },
      carry: (other) => void carried.push(other),
      end() {
        endReading();
        reservation?.end();
        ended();
      },
      stream(bytes) {
        endReading();
        reservation ??= answers.reserve(0, "agent", ended);
        const moreBytes = bytes.length - reservedBytes;
        if (moreBytes > 0) carried.push(answers.reserveAnyway(moreBytes));
        return reservation.stream(bytes);
      },
    };
  }
}

function tooManyPages(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay has more pages of messages to read than it can at one time; nothing was marked as delivered; poll again after Retry-After",
    { retryAfterMs: 1000 },
  );
}

function tooManyOfAgent(perAgent: number): RelayError {
  return new RelayError(
    "unavailable",
    `at most ${perAgent} pages of one agent (inbox, outbox, signed requests, check_inbox) are in hand at one time, until their answers are taken; nothing was marked as delivered; ask again after Retry-After`,
    { retryAfterMs: 1000 },
  );
}
