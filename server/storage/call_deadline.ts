import { RelayError } from "../errors.ts";
import { startIntervalTicker, type StartTicker, TICK_MS } from "../ticker.ts";

/** How long a call of the store may be without an answer: with the wait for a commit behind it, 503 comes in time. */
export const CALL_DEADLINE_MS = 10_000;
const DEADLINE_TICKS = CALL_DEADLINE_MS / TICK_MS;
/** A store is silent before the first of its callers is refused, who may ask for something else. */
const SILENT_AFTER_TICKS = DEADLINE_TICKS - 2;
/** What a call of a silent store may take: one to two seconds. */
const SILENT_TICKS = 2;

/** The store did not answer a call in time: 503 `unavailable`. Whether a write took effect is unknown. */
export class NoAnswer extends RelayError {
  constructor() {
    super(
      "unavailable",
      "the store does not answer; repeat the same request (same bytes, same signature) after Retry-After",
      { retryAfterMs: 1000 },
    );
  }
}

interface Call {
  /** The tick at which it is refused. */
  readonly due: number;
  readonly refuse: () => void;
}

/**
 * The deadline of all calls of one store, by one ticker that runs while any is under way: a timer for
 * each would cost a busy relay more. A store that has answered nothing for almost as long is silent: calls
 * are then refused at once, so that no line of readers waits one deadline after the other. One call a tick
 * goes through for a second or two, and any answer, late ones too, ends the silence.
 */
export class CallDeadline {
  readonly #calls = new Set<Call>();
  #ticks = 0;
  /** The tick of the last answer, or of the first call where none was under way. */
  #heardAt = 0;
  #silent = false;
  /** The tick of the last call that went through to a silent store. */
  #askedAt = 0;
  #stopTicker: (() => void) | undefined;

  constructor(private readonly start: StartTicker = startIntervalTicker) {}

  /** Waits for a call of the store. @throws NoAnswer after the deadline; else what the call throws */
  within<T>(call: () => Promise<T>): Promise<T> {
    if (this.#silent) {
      if (this.#askedAt === this.#ticks) return Promise.reject(new NoAnswer());
      this.#askedAt = this.#ticks;
    }
    return new Promise<T>((resolve, reject) => {
      const refuse = () => reject(new NoAnswer());
      this.attend(call, refuse).then(resolve, reject);
    });
  }

  /**
   * Waits for a call as long as it takes, for whom has a deadline of his own: the store is known to be
   * silent all the same.
   */
  async attend<T>(call: () => Promise<T>, refuse: () => void = () => {}): Promise<T> {
    const answer = call();
    const due = this.#ticks + (this.#silent ? SILENT_TICKS : DEADLINE_TICKS);
    const entry: Call = { due, refuse };
    this.#begin(entry);
    try {
      return await answer;
    } finally {
      this.#heard(entry);
    }
  }

  #begin(call: Call): void {
    if (this.#calls.size === 0) this.#heardAt = this.#ticks;
    this.#calls.add(call);
    this.#stopTicker ??= this.start(() => this.#tick());
  }

  #heard(call: Call): void {
    this.#silent = false;
    this.#heardAt = this.#ticks;
    this.#calls.delete(call);
    this.#stopIfIdle();
  }

  #tick(): void {
    const ticks = ++this.#ticks;
    if (!this.#silent && this.#calls.size > 0 && ticks - this.#heardAt >= SILENT_AFTER_TICKS) {
      this.#silent = true;
      this.#askedAt = ticks;
    }
    for (const call of this.#calls) {
      if (ticks < call.due) continue;
      this.#calls.delete(call);
      call.refuse();
    }
    this.#stopIfIdle();
  }

  /** A silent store is asked again a tick later, so that the ticks go on. */
  #stopIfIdle(): void {
    if (this.#calls.size > 0 || this.#silent) return;
    this.#stopTicker?.();
    this.#stopTicker = undefined;
  }
}
