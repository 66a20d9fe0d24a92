import { RelayError } from "../../errors.ts";
import { startIntervalTicker, type StartTicker, TICK_MS } from "../../time/ticker.ts";

/** How long a call of the store may be without an answer: with the wait for a commit behind it, 503 comes in time. */
export const CALL_DEADLINE_MS = 10_000;
const DEADLINE_TICKS = CALL_DEADLINE_MS / TICK_MS;
/** What a call of a silent store may take: one to two seconds. */
const SILENT_TICKS = 2;
/** A store is silent before the first of its callers is refused, who may ask for something else. */
const SILENT_AFTER_TICKS = DEADLINE_TICKS - SILENT_TICKS;
/** After so many probes without an answer the next wait twice as long, up to 2 ** 9 ticks. */
const PROBES_OF_A_PAUSE = 5;
const MOST_DOUBLINGS = 9;

/** The store did not answer a call in time: 503 `unavailable`. Whether a write took effect is unknown. */
export class NoAnswer extends RelayError {
  constructor(what = "does not answer", cause?: unknown) {
    super(
      "unavailable",
      `the store ${what}; repeat the same request (same bytes, same signature) after Retry-After`,
      { retryAfterMs: 1000, cause },
    );
  }
}

/** The store answered a call with a failure of its own, which is the cause; a write is as unclear. */
export class StoreFailed extends NoAnswer {
  constructor(cause: unknown) {
    super("fails", cause);
  }
}

/** Whether a call has used up its time: it is not tried again. */
export function isLate(failure: unknown): boolean {
  return failure instanceof NoAnswer && !(failure instanceof StoreFailed);
}

interface Call {
  /** The tick at which it is refused. */
  readonly due: number;
  /** Undefined of a call that is waited for as long as it takes. */
  readonly refuse: (() => void) | undefined;
  /** A commit may wait for another process's lock alone: that it waits says nothing of reads. */
  readonly isRead: boolean;
  /** It went through to find out whether a silent store answers again. */
  readonly isProbe: boolean;
}

export interface CallDeadlineOptions {
  /** The ticker that counts the seconds of deadlines; the usual one unless given. */
  startTicker?: StartTicker;
  /** Called when the store has fallen silent, and when it answers again. */
  onSilence?: (isSilent: boolean) => void;
  /** Called with each call that the store failed, and whether it was a read. */
  onFailure?: (failure: unknown, isRead: boolean) => void;
}

/**
 * The deadline of all calls of one store, by one ticker that runs while any is under way: a timer for
 * each would cost a busy relay more. A store that has answered nothing for almost as long is silent: a
 * call then gets a second or two. Where reads are among what it does not answer, and not only commits
 * that wait for a lock, one call a tick goes through and the others are refused at once, so that no line
 * of readers waits one deadline after the other. Any answer, late ones too, ends the silence.
 *
 * The client of a KV server asks four times a second for each call, and prints a line each time, until it
 * has an answer, whether anybody still waits for it or not. So probes become rarer the more there are: 47 in
 * an hour, and 210 in a day.
 */
export class CallDeadline {
  readonly #calls = new Set<Call>();
  #ticks = 0;
  /** The tick of the last answer, or of the first call where none was under way. */
  #heardAt = 0;
  #silent = false;
  /** A read is among the calls that a silent store has not answered. */
  #refusing = false;
  /** The tick of the last call that went through meanwhile. */
  #askedAt = 0;
  /** Calls without an answer, whether or not a caller still waits for it. */
  #probes = 0;
  #stopTicker: (() => void) | undefined;

  constructor(private readonly options: CallDeadlineOptions = {}) {}

  /** Waits for a read of the store. @throws NoAnswer after the deadline; else what the call throws */
  within<T>(call: () => Promise<T>): Promise<T> {
    return this.#within(call, true);
  }

  /** Waits for a commit. @throws as within() */
  withinCommit<T>(call: () => Promise<T>): Promise<T> {
    return this.#within(call, false);
  }

  #within<T>(call: () => Promise<T>, isRead: boolean): Promise<T> {
    const isProbe = this.#refusing;
    if (isProbe) {
      const doublings = Math.min(MOST_DOUBLINGS, Math.floor(this.#probes / PROBES_OF_A_PAUSE));
      const pauseTicks = 2 ** doublings;
      if (this.#ticks - this.#askedAt < pauseTicks) return Promise.reject(new NoAnswer());
      this.#askedAt = this.#ticks;
      this.#probes++;
    }
    return this.#answerOf(call, { isBounded: true, isRead, isProbe });
  }

  /** Waits for a call as long as it takes, for callers with a deadline of their own. */
  attend<T>(call: () => Promise<T>): Promise<T> {
    return this.#answerOf(call, { isBounded: false, isRead: false, isProbe: false });
  }

  #answerOf<T>(
    call: () => Promise<T>,
    { isBounded, ...kind }: { isBounded: boolean } & Pick<Call, "isRead" | "isProbe">,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const answer = call();
      const due = this.#ticks + (this.#silent ? SILENT_TICKS : DEADLINE_TICKS);
      const refuse = isBounded ? () => reject(new NoAnswer()) : undefined;
      const entry: Call = { due, refuse, ...kind };
      if (this.#calls.size === 0) this.#heardAt = this.#ticks;
      this.#calls.add(entry);
      this.#stopTicker ??= (this.options.startTicker ?? startIntervalTicker)(() => this.#tick());
      answer.then((value) => {
        this.#heard(entry);
        resolve(value);
      }, (error) => {
        this.#heard(entry);
        if (error instanceof StoreFailed) this.options.onFailure?.(error.cause, kind.isRead);
        reject(error);
      });
    });
  }

  #heard(call: Call): void {
    this.#heardAt = this.#ticks;
    this.#setSilent(false);
    this.#calls.delete(call);
    if (call.isProbe) this.#probes--;
    this.#stopIfIdle();
  }

  #tick(): void {
    const ticks = ++this.#ticks;
    if (this.#calls.size > 0 && ticks - this.#heardAt >= SILENT_AFTER_TICKS) this.#setSilent(true);
    for (const call of this.#calls) {
      const { due, refuse, isRead, isProbe } = call;
      if (this.#silent && isRead && ticks >= due - SILENT_TICKS) this.#refusing = true;
      if (ticks < due || refuse === undefined) continue;
      this.#calls.delete(call);
      if (!isProbe) this.#askedAt = ticks; // who asks for something else then is refused at once
      refuse();
    }
    this.#stopIfIdle();
  }

  #setSilent(isSilent: boolean): void {
    if (!isSilent) this.#refusing = false;
    if (this.#silent === isSilent) return;
    this.#silent = isSilent;
    this.options.onSilence?.(isSilent);
  }

  /** A silent store is asked again a tick later, so that the ticks go on. */
  #stopIfIdle(): void {
    if (this.#calls.size > 0 || this.#silent) return;
    this.#stopTicker?.();
    this.#stopTicker = undefined;
  }
}
