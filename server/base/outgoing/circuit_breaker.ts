/**
 * The circuit breaker of a destination. After five connection failures in a row it is open: it lets one
 * trial through each 30 s, however much waits. Pure.
 */

/** Connection failures in a row after which a destination counts as unreachable. */
const FAILURES = 5;
/** Wait from one trial to the next. */
export const TRIAL_MS = 30_000;

export class CircuitBreaker {
  #failures = 0;
  #nextTrialMs = 0;

  /** Whether connections fail, so that attempts are not counted for the rows that wait. */
  get isOpen(): boolean {
    return this.#failures >= FAILURES;
  }

  /** Whether an attempt may begin. A clock that was set back ends the wait. */
  mayTry(nowMs: number): boolean {
    return !this.isOpen || nowMs >= this.#nextTrialMs || nowMs < this.#nextTrialMs - TRIAL_MS;
  }

  /** An attempt begins. When the destination is lost, it is the one trial. */
  began(nowMs: number): void {
    if (this.isOpen) this.#nextTrialMs = nowMs + TRIAL_MS;
  }

  /** No connection was made. */
  failed(nowMs: number): void {
    this.#failures++;
    if (this.#failures === FAILURES) this.#nextTrialMs = nowMs + TRIAL_MS;
  }

  /** A connection was made. */
  reached(): void {
    this.#failures = 0;
  }

  /** An attempt ended without trying a connection: another one may be the trial. */
  untried(): void {
    this.#nextTrialMs = 0;
  }
}
